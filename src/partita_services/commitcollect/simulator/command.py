"""`partita commitcollect simulator`: the simulator on a port of its own."""

from __future__ import annotations

import click

from partita.cli._data import DataFolder, data_option
from partita.cli._listen import listening


@click.command()
@click.option("--port", type=click.IntRange(0, 65_535), default=8322, show_default=True, help="0 takes a free one.")
@click.option("--client-id", default="1", show_default=True, help="The application that it knows.")
@click.option("--client-secret", default="simulated", show_default=True, help="The application's secret.")
@data_option
def simulator(port: int, client_id: str, client_secret: str, data: DataFolder) -> None:
    """Run the Strava simulator alone, until Ctrl-C."""
    import uvicorn  # noqa: PLC0415 - only this command needs it

    from partita_services.commitcollect.simulator.app import build_simulator  # noqa: PLC0415
    from partita_services.commitcollect.simulator.strava import SimulatedStrava  # noqa: PLC0415
    from partita_services.commitcollect.simulator.world import Application  # noqa: PLC0415

    data.create()
    strava = SimulatedStrava(Application(client_id, client_secret), file=data.path / "strava-simulator.json")
    with listening("127.0.0.1", port) as listener:
        click.echo(f"The Strava simulator is at http://127.0.0.1:{listener.getsockname()[1]}/")
        config = uvicorn.Config(build_simulator(strava), log_level="warning", server_header=False)
        uvicorn.Server(config).run(sockets=[listener])
