"""`partita todo …`: work on all tasks."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Final

import click
import msgspec

from partita import Session
from partita.cli import DataFolder, store_options
from partita.runtime import write_private
from partita_services.todo.retention import RetentionProgress, retention_page
from partita_services.todo.settings import KEEP_COMPLETED_DAYS, keep_completed

_DAY: Final = 86_400
_WCU_PER_TASK: Final = 5
"""The cost of changing the time of deletion: the table and four index entries."""


@click.group()
def todo() -> None:
    """Work on all tasks."""


@todo.command("expire-completed")
@click.option(
    "--days", type=click.IntRange(1), help=f"Days after the completion; the default is {KEEP_COMPLETED_DAYS}."
)
@click.option("--never", is_flag=True, help="Remove the time limit from all completed tasks.")
@click.option(
    "--wcu-per-second", type=click.FloatRange(1), default=100.0, show_default=True, help="Maximum write units."
)
@store_options
def expire_completed(data: DataFolder, days: int | None, wcu_per_second: float, *, never: bool) -> None:
    """Apply the time limit to tasks completed earlier.

    Sets the time of deletion of tasks that were completed before the time limit was set. Reads the whole table, a page
    at a time, within a limit of write units per second. An interrupted run is resumed where it stopped.
    """
    keep = _keep(days, never=never)
    kept = data.path / f"{data.prefix}expire-completed.json"
    with closing(data.open_store(must_exist=True)) as store:
        session = Session(store, secret=data.secret("cursors")).maintenance("partita todo expire-completed")
        done = _run(session, _resumed(kept, keep), kept, wcu_per_second)
    kept.unlink(missing_ok=True)
    others = f", {done.overtaken:,} changed by others in the meantime: run it again" if done.overtaken else ""
    click.echo(f"{done.inspected:,} tasks read, {done.changed:,} changed{others}.")


def _keep(days: int | None, *, never: bool) -> int | None:
    if never and days is not None:
        raise click.UsageError("Give --days or --never, not both.")
    keep = keep_completed() if days is None else days * _DAY
    if keep is None and not never:
        raise click.UsageError(f"Give --days, or --never; {KEEP_COMPLETED_DAYS} is not set.")
    return None if never else keep


def _run(session: Session, progress: RetentionProgress, kept: Path, wcu_per_second: float) -> RetentionProgress:
    if progress.cursor is not None:
        click.echo(f"Resuming after {progress.inspected:,} tasks of an earlier run.")
    while not progress.done:
        before, started = progress.changed, time.monotonic()
        progress = session.run(retention_page(progress))
        _write(kept, progress)
        click.echo(f"\r{progress.inspected:,} tasks read, {progress.changed:,} changed", nl=False, err=True)
        wait = (progress.changed - before) * _WCU_PER_TASK / wcu_per_second - (time.monotonic() - started)
        time.sleep(max(0.0, wait))
    click.echo("", err=True)
    return progress


def _resumed(kept: Path, keep: int | None) -> RetentionProgress:
    try:
        progress = msgspec.json.decode(kept.read_bytes(), type=RetentionProgress)
    except (FileNotFoundError, msgspec.DecodeError):
        return RetentionProgress(keep)
    return progress if progress.keep == keep and not progress.done else RetentionProgress(keep)


def _write(kept: Path, progress: RetentionProgress) -> None:
    write_private(kept, msgspec.json.encode(progress))
