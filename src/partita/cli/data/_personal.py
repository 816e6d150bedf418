"""`partita personal`: what a service keeps of one user, for operators whom the user has asked."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from partita import Session
from partita.cli._data_folder import DataFolder, store_options
from partita.cli._names import service_argument
from partita.recipes.personal import PersonalData, PersonalItems
from partita.service import Service


@click.group()
def personal() -> None:
    """What a service keeps of one user: all of it, or its end."""


@personal.command()
@service_argument
@click.option("--user", "user_id", required=True, metavar="ID", help="Whose.")
@store_options
def export(service: Service, user_id: str, data: DataFolder) -> None:
    """Print all that the service keeps of a user, as JSON."""
    kept = _personal(service)
    with _session(data) as db:
        found = {items.name: list(_items(kept, items, user_id, db)) for items in kept.items}
    at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    file = {"service": service.name, "user_id": user_id, "exported_at": at, "data": found}
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(file)).decode() + "\n")
    sys.stdout.flush()  # here it can still be said where that fails


@personal.command()
@service_argument
@click.option("--user", "user_id", required=True, metavar="ID", help="Whose.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_options
def erase(service: Service, user_id: str, data: DataFolder, *, yes: bool) -> None:
    """Erase what the service keeps of a user, for good."""
    kept = _personal(service)
    if not yes:
        click.confirm(f"Erase all that {service.name} keeps of {user_id!r}? It cannot be undone.", abort=True)
    erased: dict[str, int] = {}
    with _session(data) as db:
        more = True
        while more:
            erasure = db.run(kept.erase(user_id))
            more = erasure.more
            for name, count in erasure.erased.items():
                erased[name] = erased.get(name, 0) + count
    for name, count in erased.items():
        click.echo(f"{name}: {count:,} erased.")
    for name, reason in kept.stays.items():
        click.echo(f"{name}: kept. {reason}")


def _personal(service: Service) -> PersonalData:
    if service.personal is None:
        raise click.ClickException(f"{service.name} declares nothing that it keeps of its users (Service.personal).")
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
