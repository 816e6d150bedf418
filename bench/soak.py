"""Many threads and processes on one file for a while: any error except a declared conflict is a failure."""

from __future__ import annotations

import itertools
import multiprocessing
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from bench import kill
from bench._workload import RAISE, WORK, Outcomes, Wrong, check, prepare, work
from partita import EmbeddedStore, Session
from partita.errors import StoreError

_REPORT_SECONDS: Final = 0.5

# Forking is cheap, and safe here: the parent has no threads and no open database when it forks.
_FORK: Final = multiprocessing.get_context("fork")


class Plan(Struct, frozen=True):
    """The processes and threads, and how long they work: some seconds, or a number of operations per thread."""

    processes: int
    threads: int
    seconds: float
    operations: int | None
    seed: int

    def turns(self) -> Iterable[object]:
        """Yield the turns of one thread."""
        if self.operations is not None:
            return itertools.repeat(None, self.operations)
        deadline = time.monotonic() + self.seconds
        return iter(lambda: time.monotonic() < deadline, False)


def soak(path: Path, plan: Plan, show: Callable[[Outcomes], None]) -> Outcomes:
    """Do the work on a new file, report the outcomes so far, and check the stored items at the end.

    Raises:
        Wrong: an acknowledged write was lost.
        StoreDamaged: table, indexes and stream disagree.
    """
    with EmbeddedStore(path) as store:
        prepare(Session(store))
    outcomes = Outcomes()
    for outcomes in _work_in_processes(path, plan):
        show(outcomes)
    if not outcomes.errors:
        with EmbeddedStore(path) as store:
            check(Session(store), raised=outcomes.done[RAISE])
            store.verify()
    return outcomes


def _work_in_processes(path: Path, plan: Plan) -> Iterator[Outcomes]:
    """Yield the summed outcomes of all processes repeatedly, until all have ended."""
    pipes = [_FORK.Pipe(duplex=False) for _ in range(plan.processes)]
    processes = [
        _FORK.Process(target=_work_in_threads, args=(path, plan, number, pipe), daemon=True)
        for number, (_, pipe) in enumerate(pipes)
    ]
    for process, (_, pipe) in zip(processes, pipes, strict=True):
        process.start()
        pipe.close()
    latest = {reader: Outcomes() for reader, _ in pipes}
    working = list(latest)
    while working:
        ready = wait(working)
        for reader in [each for each in working if each in ready]:
            try:
                latest[reader] = reader.recv()
            except EOFError:
                working.remove(reader)
                reader.close()
        yield sum(latest.values(), Outcomes())
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise Wrong(f"The exit codes of the processes are {[process.exitcode for process in processes]}.")


def _work_in_threads(path: Path, plan: Plan, process: int, pipe: Connection) -> None:
    """Run one process, whose threads share a store; it reports their outcomes every half second."""
    with EmbeddedStore(path) as store:
        db = Session(store)
        outcomes = [Outcomes() for _ in range(plan.threads)]
        threads = [
            threading.Thread(
                target=work, args=(db, random.Random(f"{plan.seed}/{process}/{number}"), plan.turns(), each)
            )
            for number, each in enumerate(outcomes)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(_REPORT_SECONDS)
                pipe.send(sum(outcomes, Outcomes()))
        pipe.send(sum(outcomes, Outcomes()))


@click.command()
@click.option("--seconds", default=120.0, show_default=True, help="Number of seconds to work.")
@click.option("--operations", type=int, help="Number of operations of each thread, instead of a time.")
@click.option("--processes", default=4, show_default=True)
@click.option("--threads", default=16, show_default=True, help="Number of threads in each process.")
@click.option("--seed", type=int, help="Repeat the random choices of an earlier run.")
@click.option("--kill", "killing", is_flag=True, help="Run 100 rounds of the kill test instead.")
@click.pass_context
def main(context: click.Context, /, *, killing: bool, seed: int | None, **plan: float | None) -> None:
    """Stress one file with many threads and processes; fail on any error that is not a declared conflict."""
    if killing:
        context.invoke(kill.main, count=100, seed=seed)
        return
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    click.echo(f"seed {seed}")
    try:
        outcomes = _shown(Plan(seed=seed, **plan))  # type: ignore[arg-type]  # as the options declare
    except (Wrong, StoreError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(summary(outcomes))
    context.exit(1 if outcomes.errors else 0)


def _shown(plan: Plan) -> Outcomes:
    start = time.monotonic()
    goal = plan.seconds if plan.operations is None else plan.operations * plan.threads * plan.processes
    with (
        tempfile.TemporaryDirectory(prefix="partita-soak-") as folder,
        click.progressbar(length=int(goal), label="working", item_show_func=lambda text: text) as bar,
    ):

        def show(outcomes: Outcomes) -> None:
            passed = time.monotonic() - start
            position = passed if plan.operations is None else outcomes.count
            rate = f"{outcomes.count / passed:,.0f} operations per second, {outcomes.conflicts.total():,} conflicts"
            bar.update(max(0, min(int(position), bar.length or 0) - bar.pos), rate)

        return soak(Path(folder) / "soak.db", plan, show)


def summary(outcomes: Outcomes) -> str:
    """The outcomes as text."""
    lines = [f"{'work':<20} {'done':>10} {'conflicts':>10}"]
    lines += [f"{name:<20} {outcomes.done[name]:>10,} {outcomes.conflicts[name]:>10,}" for name in WORK]
    lines += [f"{'all':<20} {outcomes.done.total():>10,} {outcomes.conflicts.total():>10,}"]
    lines += [f"ERROR {error}" for error in outcomes.errors] or ["no errors; nothing acknowledged was lost"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
