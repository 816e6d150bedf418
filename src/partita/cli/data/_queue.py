"""`partita queue`: the state of a service's queue, and its dead letters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import click

from partita.cli._data_folder import EMBEDDED, DataFolder, queue_options
from partita.cli._output import echo_json, echo_table, json_option
from partita.errors import QueueNotFound
from partita.queue import Create, Discard, GetStats, Queue, ReadDead, Redrive, queue_file

name_argument = click.argument("name")
ids_argument = click.argument("ids", nargs=-1, metavar="[ID]...")
all_option = click.option("--all", "is_all", is_flag=True, help="All dead letters.")


@click.group()
def queue() -> None:
    """Manage the queues of services and their dead letters.

    NAME is the name of a queue, such as `events` or `todo-reminders`.
    """


@queue.command()
@name_argument
@queue_options
def create(name: str, data: DataFolder) -> None:
    """Create a queue and its dead-letter queue if they are missing."""
    with closing(data.open_queue(name)) as opened:
        opened.execute(Create())
    click.echo(f"{name}: ready")


@queue.command()
@name_argument
@queue_options
@json_option
def stats(name: str, data: DataFolder, *, as_json: bool) -> None:
    """Count the messages that are waiting, in flight and dead."""
    with _existing(data, name) as opened:
        measured = opened.execute(GetStats())
    if as_json:
        echo_json(measured)
        return
    age = "-" if measured.oldest_seconds is None else f"{measured.oldest_seconds:.1f} s"
    numbers = (str(measured.waiting), str(measured.in_flight), str(measured.dead), age)
    echo_table(("WAITING", "IN FLIGHT", "DEAD", "OLDEST"), [numbers])


@queue.command()
@name_argument
@queue_options
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Maximum number to show.")
@json_option
def dead(name: str, data: DataFolder, limit: int, *, as_json: bool) -> None:
    """Show the dead letters: messages that were delivered too often."""
    with _existing(data, name) as opened:
        letters = opened.execute(ReadDead(limit))
    if as_json:
        echo_json(letters)
    else:
        echo_table(("ID", "GROUP", "BODY"), [(letter.id, letter.group, letter.body) for letter in letters])


@queue.command()
@name_argument
@ids_argument
@queue_options
@all_option
def redrive(name: str, ids: tuple[str, ...], data: DataFolder, *, is_all: bool) -> None:
    """Send dead letters again, to the end of their groups."""
    with _existing(data, name) as opened:
        count = opened.execute(Redrive(_chosen(ids, is_all=is_all)))
    _report(f"{name}: {count} sent again", count, ids)


@queue.command()
@name_argument
@ids_argument
@queue_options
@all_option
def discard(name: str, ids: tuple[str, ...], data: DataFolder, *, is_all: bool) -> None:
    """Delete dead letters permanently."""
    with _existing(data, name) as opened:
        count = opened.execute(Discard(_chosen(ids, is_all=is_all)))
    _report(f"{name}: {count} deleted", count, ids)


def _chosen(ids: tuple[str, ...], *, is_all: bool) -> tuple[str, ...] | None:
    if bool(ids) == is_all:
        raise click.UsageError("Give either the ids of dead letters, or --all.")
    return None if is_all else ids


def _report(done: str, count: int, ids: tuple[str, ...]) -> None:
    """Print what was done, and fail if some of the ids were not those of dead letters."""
    click.echo(done)
    missing = len(set(ids)) - count
    if missing > 0:
        what = "1 id is not that of a dead letter." if missing == 1 else f"{missing} ids are not those of dead letters."
        raise click.ClickException(f"{what} `partita queue dead` shows them.")


@contextmanager
def _existing(data: DataFolder, name: str) -> Iterator[Queue]:
    """Open an existing queue. An embedded queue that does not exist is not created."""
    if data.queue == EMBEDDED and not queue_file(data.path, data.queue_name(name)).exists():
        raise QueueNotFound(f"There is no queue {data.queue_name(name)!r} in {data.path}.")
    with closing(data.open_queue(name)) as opened:
        yield opened
