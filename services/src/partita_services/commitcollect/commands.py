"""`partita commitcollect …`: the Strava simulator."""

from __future__ import annotations

import click

from partita_services.commitcollect.simulator.command import simulator


@click.group()
def commitcollect() -> None:
    """Work with CommitCollect."""


commitcollect.add_command(simulator)
