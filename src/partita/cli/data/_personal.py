"""`partita personal`: export or erase everything that a service stores about a user, at the user's request."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from partita import Session
from partita.cli._data_folder import DataFolder, store_and_queue_options, store_options
from partita.cli._names import service_argument
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli.data._cdc import run as run_cdc
from partita.cli.data._erasing import erase_items, erase_projection, erase_queues, overwrite_log, what_remains
from partita.cli.data._lake import lake_option
from partita.recipes.personal import PersonalData, PersonalItems
from partita.service import Service


def _given(context: click.Context, parameter: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's
    if not value:
        raise click.BadParameter("The id is empty.")
    return value


_user_option = click.option("--user", "user_id", required=True, callback=_given, metavar="ID", help="The user.")


@click.group()
def personal() -> None:
    """Export or erase everything a service stores about a user."""


@personal.command()
@service_argument
@_user_option
@store_options
def export(service: Service, user_id: str, data: DataFolder) -> None:
    """Print everything that the service stores about a user, as JSON."""
    kept = _personal(service)
    with _session(data) as db:
        found = {items.name: list(_items(kept, items, user_id, db)) for items in kept.items}
    at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    file = {"service": service.name, "user_id": user_id, "exported_at": at, "data": found}
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(file)).decode() + "\n")
    sys.stdout.flush()  # an error here can still be reported


@personal.command()
@service_argument
@_user_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@lake_option(required=False, about="Also bring the lake at this location up to date, and erase the user there.")
@store_and_queue_options
@json_option
@click.pass_context
def erase(
    context: click.Context,
    service: Service,
    user_id: str,
    lake: Path | None,
    data: DataFolder,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Permanently erase what the service stores about a user.

    This covers the whole installation: items, the projection in the folder, dead letters that name the user, the
    database file and its log, and with --lake the lake. Prints what was erased where, what is kept and why, and which
    places still hold data of the user until when. If the command is interrupted, run it again.
    """
    kept = _personal(service)
    if not yes:
        click.confirm(f"Erase everything {service.name} stores about {user_id!r}? This cannot be undone.", abort=True)
    with _session(data) as db:
        places = list(erase_items(kept, user_id, db))
        places += erase_projection(service, db.store, data)
    places += erase_queues(service, data, user_id)
    if lake is not None:
        _bring_up_to_date(context, service, lake, data)
    places += overwrite_log(service, data)
    places += what_remains(kept, lake, time.time())
    if as_json:
        echo_json(places)
        return
    echo_table(("WHERE", "ERASED", "REMAINS"), [(each.place, each.erased, each.remains) for each in places])


def _bring_up_to_date(context: click.Context, service: Service, lake: Path, data: DataFolder) -> None:
    """Bring the lake up to date as `partita cdc run --once` does: it then reads of the erasure, and erases too."""
    options = {"store": data.store, "table_prefix": data.prefix, "profile": data.profile}
    with redirect_stdout(sys.stderr):  # the standard output is for the report only
        context.invoke(run_cdc, service=service, lake=lake, data=data.path, once=True, **options)


def _personal(service: Service) -> PersonalData:
    if service.personal is None or not service.personal.items:
        raise click.ClickException(f"{service.name} declares no personal data of its users (Service.personal).")
    return service.personal


def _items(kept: PersonalData, items: PersonalItems, user_id: str, db: Session) -> Iterator[Any]:
    cursor, more = None, True
    while more:
        page, cursor = db.run(kept.page(items, user_id, cursor))
        yield from page
        more = cursor is not None


@contextmanager
def _session(data: DataFolder) -> Iterator[Session]:
    with closing(data.open_store(must_exist=True)) as store:
        yield Session(store, secret=data.secret("cursors"), keys=data.keys())
