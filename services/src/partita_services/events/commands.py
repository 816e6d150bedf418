"""`partita events …`: list, edit and cancel events, hold and verify draws, and run storms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import IO, Final

import click
from pydantic import ValidationError

from partita import Session
from partita.cli import DataFolder, echo_table, store_options
from partita_services.events.changes.drafts import EventEdit
from partita_services.events.changes.editing import edit
from partita_services.events.changes.event_cancelling import cancel_whole_event
from partita_services.events.draws.draw import hold_draw
from partita_services.events.draws.verify import problems_of
from partita_services.events.handlers import list_events
from partita_services.events.loadtest.storm import storm
from partita_services.events.reading import phase_of

SHOWN: Final = 100


@click.group()
def events() -> None:
    """Work with events and their requests."""


@events.command("list")
@store_options
def show_events(data: DataFolder) -> None:
    """List events, latest opening first."""
    with _opened(data) as session:
        page, now = session.run(list_events(SHOWN, None)), _now(session)
    rows = [
        (
            found.event.event_id,
            phase_of(found.event, now),
            found.event.event_type,
            f"{found.seats.remaining:,} of {found.seats.total:,}",
            f"{found.event.opens_at:%Y-%m-%d %H:%M}",
            f"{found.event.closes_at:%Y-%m-%d %H:%M}",
            found.event.name,
        )
        for found in page
    ]
    echo_table(("event", "status", "type", "seats left", "opens (UTC)", "closes (UTC)", "name"), rows)
    if page.next_cursor is not None:
        click.echo(f"There are more than {SHOWN} events; the API lists all of them.")


@events.command("edit")
@click.argument("event_id")
@click.option("--name", help="The name of the event.")
@click.option("--description", help="The description of the event; an empty text removes it.")
@click.option("--seats", type=int, help="The number of seats; added seats go to the waiting list.")
@click.option("--opens", metavar="INSTANT", help="When the event opens, such as 2026-12-01T10:00:00Z.")
@click.option("--closes", metavar="INSTANT", help="When the event closes.")
@click.option("--draws-itself/--no-draws-itself", default=None, help="Whether a worker holds the draw at the closing.")
@store_options
def edit_event(
    event_id: str,
    name: str | None,
    description: str | None,
    seats: int | None,
    opens: str | None,
    closes: str | None,
    data: DataFolder,
    *,
    draws_itself: bool | None,
) -> None:
    """Change an event, within the rules of the service."""
    said = {
        "name": name,
        "description": description,
        "capacityTotal": seats,
        "opensAt": opens,
        "closesAt": closes,
        "drawsItself": draws_itself,
    }
    try:
        change = EventEdit.model_validate({field: value for field, value in said.items() if value is not None})
    except ValidationError as invalid:
        (first, *_) = invalid.errors()
        why = first["msg"].removeprefix("Value error, ")  # Pydantic's prefix for errors of validators
        raise click.ClickException(f"{first['loc'][0]}: {why}.") from None
    with _opened(data) as session:
        found = session.run(edit(event_id, change, _now(session)))
    click.echo(
        f"Changed: {found.event.name}, {found.seats.total:,} seats, closes {found.event.closes_at:%Y-%m-%d %H:%M}."
    )


@events.command("cancel")
@click.argument("event_id")
@click.option("--reason", required=True, help="The reason, for everyone who applied.")
@store_options
def cancel_event(event_id: str, reason: str, data: DataFolder) -> None:
    """Cancel an event; workers notify everyone who applied."""
    with _opened(data) as session:
        found = session.run(cancel_whole_event(event_id, reason, _now(session)))
    click.echo(f"Cancelled: {found.event.name}. Workers notify everyone who applied.")


@events.command("draw")
@click.argument("event_id")
@click.option("--entropy", metavar="TEXT", help="The value that the lottery's entropy source has published.")
@store_options
def draw_event(event_id: str, entropy: str | None, data: DataFolder) -> None:
    """Hold the draw of a closed lottery.

    If the draw waits for an external value, supply it with --entropy.
    """
    with _opened(data) as session:
        found = session.run(hold_draw(event_id, _now(session), entropy))
    if found.awaits_entropy:
        click.echo(f"The entries are frozen. The draw waits for: {found.event.entropy_source}")
    else:
        click.echo(f"Drawn: {min(found.seats.total, len(found.order)):,} of {len(found.order):,} have won.")


@events.command("verify-draw")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--commitment", metavar="HEX", help="The commitment that was published when the event was created.")
@click.option("--entropy", metavar="TEXT", help="The value that you have read at the draw's entropy source.")
def verify_draw(file: IO[str], commitment: str | None, entropy: str | None) -> None:
    """Verify the draw of a lottery.

    Checks its seed, entries, external value, winners and waiting list. FILE is the response to GET /events/{id}/draw;
    - reads standard input. Exits with 1 if the draw is not correct.
    """
    try:
        draw = json.load(file)
        problems = problems_of(draw, commitment, entropy)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise click.ClickException(f"The file is not a draw ({type(error).__name__}: {error}).") from None
    if problems:
        raise click.ClickException(" ".join(problems))
    winners, waiting = len(draw["winners"]), len(draw["waitingList"])
    click.echo(f"The draw is correct: {winners:,} won and {waiting:,} wait, as the seed draws them.")


@contextmanager
def _opened(data: DataFolder) -> Iterator[Session]:
    with closing(data.open_store(must_exist=True)) as store:
        yield Session(store)


def _now(session: Session) -> datetime:
    return datetime.fromtimestamp(session.context.clock(), UTC)


events.add_command(storm)
