"""`partita copy`: copy tables from one store to another, follow their changes, and compare both sides."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import click

from partita.cli._names import installed
from partita.cli._numbers import FiniteRange
from partita.cli._output import echo_table
from partita.cli._signals import on_stop_signal
from partita.cli.data._stores import Address, address_option, chosen_tables
from partita.runtime import new_ulid
from partita.transfer import (
    CopyOptions,
    Estimate,
    ItemDifference,
    PersonalMask,
    Side,
    StoreCopy,
    TableComparison,
    TableCopy,
    copy_sample,
    estimate,
)

POLL_SECONDS: Final = 0.1
REMOTE_POLL_SECONDS: Final = 1.0
MAX_SHOWN: Final = 100
"""How many differences are printed; all are counted."""


@click.command()
@click.argument("names", nargs=-1, metavar="[SERVICE|TABLE]...")
@address_option("--from", "source", "Source")
@address_option("--to", "target", "Target")
@click.option("--from-prefix", default="", metavar="TEXT", help="Prefix of the names of the source's tables.")
@click.option("--to-prefix", default="", metavar="TEXT", help="Prefix of the names of the target's tables.")
@click.option("--follow", is_flag=True, help="Then apply every change, until Ctrl-C or SIGTERM.")
@click.option(
    "--verify", is_flag=True, help="Copy nothing: compare every item of both sides. Exits with 1 if any differ."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--wcu", type=FiniteRange(min=1), metavar="UNITS", help="Maximum write units per second.")
@click.option("--segments", type=click.IntRange(1, 64), default=4, show_default=True, help="Parallel parts of a scan.")
@click.option(
    "--in-flight",
    "workers",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Parallel batches of writes.",
)
@click.option("--replace", is_flag=True, help="Allow a target that is not empty, and delete items that only it has.")
@click.option("--restart", is_flag=True, help="Start again, whatever was copied before.")
@click.option("--still", is_flag=True, help="Nobody writes to the source, so it needs no stream.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="For development: N partitions of each table.")
@click.option("--mask", is_flag=True, help="With --sample: mask the fields that services declare to be personal.")
@click.option("--changes-only", is_flag=True, help="Both sides are equal now: copy only changes from now on.")
def copy(
    names: tuple[str, ...],
    source: Address,
    target: Address,
    *,
    from_prefix: str,
    to_prefix: str,
    follow: bool,
    verify: bool,
    **others: Any,
) -> None:
    """Copy tables from one store to another: embedded, DynamoDB, or a compatible server.

    Names select tables, or all tables of a service; without names, all tables are copied. The target becomes exactly
    equal to the source, even if others write to the source meanwhile. If the copy is interrupted, the same command
    continues it.
    """
    yes, sample, mask = others.pop("yes"), others.pop("sample"), others.pop("mask")
    options = CopyOptions(**others)
    if (sample is None and mask) or (sample is not None and (follow or verify)):
        raise click.UsageError("--mask needs --sample, and --sample cannot be combined with --follow or --verify.")
    if verify and follow:
        raise click.UsageError("Give --verify or --follow, not both.")
    with ExitStack() as opened:
        one = opened.enter_context(source.opened(from_prefix, must_exist=True))
        other = opened.enter_context(target.opened(to_prefix, must_exist=verify))
        if not verify and one.is_same(other):
            raise click.UsageError("The source and the target are the same tables.")
        tables = chosen_tables(one.store, names)
        estimates = [estimate(one.store, table) for table in tables]
        show_estimates(estimates, source, target, writes=not verify)
        if verify:
            compare(one, other, estimates)
            return
        if follow and target.costs:
            click.echo("Following a change costs twice its units; up to 99 changes share the cost of one more item.")
        if not yes:
            click.confirm("Copy?", abort=True, err=True)
        if sample is not None:
            _sample(one, other, tables, sample, mask=mask, options=options)
            return
        run_copy(one, other, tables, options, estimates, follow=follow)


def show_estimates(estimates: Sequence[Estimate], source: Address, target: Address, *, writes: bool) -> None:
    """Print the expected units and cost, before the copy begins."""
    rows = [
        (
            each.table,
            f"{each.items:,}",
            f"{each.size / 1e6:,.1f} MB",
            f"{each.read:,.0f}",
            f"{each.write * writes:,.0f}",
        )
        for each in estimates
    ]
    echo_table(("TABLE", "ITEMS", "SIZE", "READ UNITS", "WRITE UNITS"), rows)
    dollars = sum(each.dollars(reads=source.costs, writes=target.costs and writes) for each in estimates)
    if not writes:
        dollars += sum(each.dollars(reads=target.costs, writes=False) for each in estimates)
    if source.costs or target.costs:
        click.echo(f"About ${dollars:,.2f} at DynamoDB's on-demand price in us-east-1; other regions may cost more.")
    else:
        click.echo("Neither side charges for units.")


def run_copy(
    source: Side,
    target: Side,
    tables: Sequence[str],
    options: CopyOptions,
    estimates: Sequence[Estimate],
    *,
    follow: bool,
) -> None:
    """Copy the tables with a progress bar, and follow their changes if `follow` is set."""
    owner = new_ulid()
    with progress("Copying", sum(each.items for each in estimates)) as bar:
        copies = [
            TableCopy(source, target, table, owner=owner, options=options, on_written=lambda items, _: bar(items))
            for table in tables
        ]
        running = StoreCopy(source, copies)
        with running:
            running.prepare()
            for each in copies:
                for note in each.notes:
                    click.echo(f"{each.table}: {note}; this is not changed.", err=True)
            bar(sum(each.copied for each in copies))
            goes_on = follow and all(each.is_exact for each in copies)
            changed = running.load(every_change=follow)
            bar.finish()
            if goes_on:
                click.echo(f"Continuing the last run, with a lag of {running.lag().records:,} changes.")
            else:
                click.echo(f"The target is equal to the source; {changed:,} items had changed meanwhile.")
            if follow:
                _follow(running, REMOTE_POLL_SECONDS if not source.has_snapshots else POLL_SECONDS)


def _follow(running: StoreCopy, poll_seconds: float) -> None:
    stop = threading.Event()
    on_stop_signal(stop.set)
    click.echo("Following changes. Stop with Ctrl-C.")
    running.follow(stop, lambda: stop.wait(poll_seconds))
    lag = running.lag()
    click.echo(f"Stopped, with a lag of {lag.records:,} changes.")


def _sample(
    source: Side, target: Side, tables: tuple[str, ...], partitions: int, *, mask: bool, options: CopyOptions
) -> None:
    secret = os.environ.get("PARTITA_MASK_SECRET", "").encode() or os.urandom(32)
    masks = PersonalMask(installed().services, secret) if mask else None
    for each in copy_sample(source, target, tables, partitions, mask=masks, options=options):
        left_out = f"; {each.left_out:,} that could not be masked were left out" if each.left_out else ""
        click.echo(f"{each.table}: {each.items:,} items of {each.partitions:,} partitions{left_out}")


class Progress:
    """Counts finished items, from any thread, and shows the rate."""

    def __init__(self, advance: Callable[[int], object], finish: Callable[[], object]) -> None:
        self._advance = advance
        self._lock = threading.Lock()
        self.finish = finish

    def __call__(self, items: int) -> None:
        """Add a number of finished items."""
        with self._lock:
            self._advance(items)


@contextmanager
def progress(label: str, length: int) -> Iterator[Progress]:
    """A progress bar with the rate and the remaining time."""
    begun, done = time.monotonic(), 0

    def rate(_: object) -> str:
        return f"{done / max(time.monotonic() - begun, 0.001):,.0f} items/s"

    with click.progressbar(length=max(length, 1), label=label, show_pos=True, item_show_func=rate) as bar:

        def advance(items: int) -> None:
            nonlocal done
            done += items
            bar.length = max(bar.length or 1, bar.pos + items)
            bar.update(items, done)  # `done` makes it show the rate

        def finish() -> None:
            bar.update(max((bar.length or 0) - bar.pos, 0))
            bar.render_finish()

        yield Progress(advance, finish)


def compare(source: Side, target: Side, estimates: Sequence[Estimate]) -> None:
    """Compare the tables, print the differences, and exit with 1 if there are any."""
    found: list[ItemDifference] = []
    results = []
    with progress("Comparing", 2 * sum(each.items for each in estimates)) as bar:
        for each in estimates:
            with TableComparison(source, target, each.table) as comparison:
                results.append(comparison.run(lambda it: found.append(it) if len(found) < MAX_SHOWN else None, bar))
    for difference in found:
        click.echo(str(difference))
    differences = sum(each.differences for each in results)
    if differences > len(found):
        click.echo(f"… and {differences - len(found):,} more.")
    expired = sum(each.expired for each in results)
    if expired:
        click.echo(f"{expired:,} items have expired, and only one side has deleted them yet.")
    click.echo(f"{sum(each.items for each in results):,} items compared, {differences:,} differ.")
    if differences:
        raise click.exceptions.Exit(1)
