"""`partita events …`: verifying a draw, and storms."""

from __future__ import annotations

import json
from typing import IO

import click

from partita_services.events.draws.verify import problems_of
from partita_services.events.loadtest.storm import storm


@click.group()
def events() -> None:
    """Work with event requests."""


@events.command("verify-draw")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--commitment", metavar="HEX", help="What was published when the event was created.")
@click.option("--entropy", metavar="TEXT", help="The value that you have read at the draw's source of entropy.")
def verify_draw(file: IO[str], commitment: str | None, entropy: str | None) -> None:
    """Check a draw: seed, entries, value from outside, winners and waiting list.

    FILE is the response to GET /events/{id}/draw; - reads it from the input. Exits with 1 where something is wrong.
    """
    try:
        draw = json.load(file)
        problems = problems_of(draw, commitment, entropy)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise click.ClickException(f"This is not a draw ({type(error).__name__}: {error}).") from None
    if problems:
        raise click.ClickException(" ".join(problems))
    winners, waiting = len(draw["winners"]), len(draw["waitingList"])
    click.echo(f"The draw is right: {winners:,} won and {waiting:,} wait, as the seed draws them.")


events.add_command(storm)
