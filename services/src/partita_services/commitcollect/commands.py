"""`partita commitcollect …`: manage collectible models, and run the Strava simulator on a port of its own."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import datetime
from pathlib import Path

import click

from partita import Session
from partita.cli import (
    DataFolder,
    data_option,
    echo_table,
    installation_of,
    listening,
    needs_serve,
    run_app,
    store_options,
)
from partita.runtime import AllowedHosts
from partita_services.commitcollect.collectibles.definition import bundled, read_definition
from partita_services.commitcollect.collectibles.loading import all_models, load_model
from partita_services.commitcollect.collectibles.loading import retire as retire_model
from partita_services.commitcollect.model import TABLE


@click.group()
def commitcollect() -> None:
    """Manage CommitCollect models, and run the Strava simulator."""


@commitcollect.group()
def models() -> None:
    """Load, list and retire collectible models."""


@models.command()
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@store_options
def load(files: tuple[Path, ...], data: DataFolder) -> None:
    """Load models: add new ones, update texts and pictures of existing ones, and make retired ones available again.

    FILE is JSON with model_id, name, story, parts and picture, which names an SVG file in the same folder. Without
    FILE, the bundled models are loaded.
    """
    definitions = [read_definition(file) for file in files] if files else bundled()
    with closing(data.open_store()) as store:
        session = Session(store)
        session.create_tables([TABLE])
        for definition in definitions:
            click.echo(f"{definition.model_id}: {session.run(load_model(definition))}")


@models.command("list")
@store_options
def list_models(data: DataFolder) -> None:
    """List all models, with their parts."""
    with closing(data.open_store(must_exist=True)) as store:
        found = Session(store).run(all_models())
    if not found:
        click.echo("There are no models. `partita commitcollect models load` loads the bundled ones.")
        return
    rows = [(one.model.model_id, one.model.name, str(len(one.parts)), _since(one.model.retired_at)) for one in found]
    echo_table(("model", "name", "parts", "retired"), rows)


@models.command()
@click.argument("model_id")
@store_options
def retire(model_id: str, data: DataFolder) -> None:
    """Retire a model, so that no new milestone can use it. Existing milestones continue."""
    with closing(data.open_store(must_exist=True)) as store:
        retired = Session(store).run(retire_model(model_id, time.time()))
    click.echo(f"{model_id}: retired since {_since(retired.retired_at)}")


def _since(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d}" if instant else "-"


@commitcollect.command()
@click.option("--port", type=click.IntRange(0, 65_535), default=8322, show_default=True, help="0 chooses a free port.")
@data_option
@needs_serve
def simulator(port: int, data: DataFolder) -> None:
    """Run only the Strava simulator, until Ctrl-C.

    It serves the CommitCollect service of the same data folder. Start that with PARTITA_STRAVA_URL set to the address
    that this command prints.
    """
    from partita.app import guarded  # noqa: PLC0415 - needs the extra
    from partita_services.commitcollect.simulator.app import simulator_of  # noqa: PLC0415 - needs the extra

    app = guarded(simulator_of(installation_of(data)), AllowedHosts())
    with listening("127.0.0.1", port) as listener:
        run_app(app, listener, f"The Strava simulator is at http://127.0.0.1:{listener.getsockname()[1]}")
