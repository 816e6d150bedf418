"""Loading into an embedded database, directly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from partita.buckets import open_buckets
from partita.bulk import BulkJournal, BulkLoad, Progress, load_lock
from partita.cli._signals import on_stop_signal
from partita.cli.data.loading._inputs import Inputs
from partita.errors import StoreBusy
from partita.runtime import Pace, make_private_folder
from partita.store import DescribeTable
from partita.store.embedded import EmbeddedStore

CHUNK: Final = 50_000
"""Records per transaction. Large transactions write each page of the key index only once."""
MAX_SHOWN: Final = 10


def load_embedded(store: EmbeddedStore, table: str, inputs: Inputs, *, reports: str | None, wcu: float | None) -> None:
    """Load the inputs, or continue an interrupted load of them. Exit with 1 if a record failed or it was stopped.

    Raises:
        StoreBusy: another process loads into the same file.
    """
    created = store.execute(DescribeTable(table)).created_at
    BulkJournal.prepare(store)
    stop = threading.Event()
    on_stop_signal(stop.set)
    lock = load_lock(store)
    if not lock.acquire(blocking=False):
        raise StoreBusy(f"Another process is loading into {store.path}.", hint="Wait until it has finished.")
    try:
        with loading(inputs.size) as show:
            name = f"load/{table}/{created}/{inputs.fingerprint}"
            run = BulkLoad(store, table, name, pace=Pace(wcu), chunk=CHUNK, on_progress=show)
            begun = run.progress()
            if begun.processed:
                click.echo(f"Continuing after {begun.processed:,} records.", err=True)
            show(begun)
            finished = run.run(inputs.inputs, stop.is_set)
        if not finished:
            click.echo(f"Stopped after {run.progress().processed:,} records. Run the same command to continue.")
            raise click.exceptions.Exit(1)
        _end(run, reports)
    finally:
        lock.release()
        lock.close()


def _end(run: BulkLoad, reports: str | None) -> None:
    """Print the result, and write the reports."""
    done = run.progress()
    shown: list[str] = []

    def show(_: str, text: bytes) -> None:
        shown.extend(line.decode() for line in text.splitlines()[: MAX_SHOWN - len(shown)])

    names = run.write_reports(show if reports is None else report_writer(reports))
    for line in shown:
        click.echo(line, err=True)
    written = done.processed - done.failed - done.unmet
    click.echo(f"{written:,} items written, {done.unmet:,} conditions were false, {done.failed:,} records failed.")
    if reports is not None and names:
        click.echo(f"Reports: {', '.join(names)} in {reports}")
    elif done.failed + done.unmet > len(shown):
        click.echo("Only some reports are shown; --reports DIR writes all.", err=True)
    run.forget()
    if done.failed:
        raise click.exceptions.Exit(1)


def report_writer(place: str) -> Callable[[str, bytes], object]:
    """A function that writes the parts of reports to a folder, or below a prefix of a bucket."""
    if "://" in place:
        parts = urlsplit(place)
        buckets = open_buckets(f"{parts.scheme}://{f'?{parts.query}' if parts.query else ''}")
        prefix = parts.path.strip("/")
        return lambda name, text: buckets.write(parts.netloc, f"{prefix}/{name}".lstrip("/"), text)

    def write(name: str, text: bytes) -> None:
        path = Path(place) / name
        make_private_folder(path.parent)
        path.write_bytes(text)

    return write


@contextmanager
def loading(size: int) -> Iterator[Callable[[Progress], None]]:
    """A progress bar of the bytes read, with the rate of records and the remaining time."""
    begun, first, rate = time.monotonic(), -1, ""

    def shown(_: object) -> str:
        return rate

    with click.progressbar(length=max(size, 1), label="Loading", item_show_func=shown) as bar:

        def show(progress: Progress) -> None:
            nonlocal first, rate
            first = progress.processed if first < 0 else first
            seconds = max(time.monotonic() - begun, 0.001)
            rate = f"{progress.processed:,} records, {(progress.processed - first) / seconds:,.0f} per second"
            bar.update(max(min(progress.read_bytes, bar.length or 0) - bar.pos, 0), progress)

        yield show
