"""`partita commitcollect …`: the Strava simulator on a port of its own."""

from __future__ import annotations

import click

from partita.cli import DataFolder, data_option, installation_of, listening, needs_serve, run_app
from partita.runtime import AllowedHosts


@click.group()
def commitcollect() -> None:
    """Work with CommitCollect."""


@commitcollect.command()
@click.option("--port", type=click.IntRange(0, 65_535), default=8322, show_default=True, help="0 takes a free one.")
@data_option
@needs_serve
def simulator(port: int, data: DataFolder) -> None:
    """Run the Strava simulator alone, until Ctrl-C.

    It knows the application of the same data folder: start that with PARTITA_STRAVA_URL set to what is printed.
    """
    from partita.app import guarded  # noqa: PLC0415 - needs the extra
    from partita_services.commitcollect.simulator.app import simulator_of  # noqa: PLC0415 - needs the extra

    app = guarded(simulator_of(installation_of(data)), AllowedHosts())
    with listening("127.0.0.1", port) as listener:
        run_app(app, listener, f"The Strava simulator is at http://127.0.0.1:{listener.getsockname()[1]}")
