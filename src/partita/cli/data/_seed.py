"""`partita seed`: sample data for the services."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from partita import Session
from partita.cli._data_folder import DataFolder, store_options
from partita.cli._names import chosen_services
from partita.errors import AlreadyExists
from partita.runtime import disk_error, open_private
from partita.service import Service


@click.command()
@chosen_services
@store_options
def seed(services: Sequence[Service], data: DataFolder) -> None:
    """Fill the services with sample data.

    Existing data does not change, so running the command twice adds nothing.
    """
    with closing(data.open_store()) as store:
        session = Session(store, keys=data.keys())
        for service in services:
            session.create_tables(service.tables)
            seed_service(service, session, data)


def is_seeding(service: Service, data: DataFolder) -> bool:
    """Whether filling with sample data has begun and is not complete."""
    return _marker(service, data).exists()


def begin_seeding(service: Service, data: DataFolder) -> None:
    """Record that a service gets sample data; the mark is removed when the data is complete.

    Raises:
        StoreError: the data folder cannot be written.
    """
    data.create()
    try:
        os.close(open_private(_marker(service, data)))
    except OSError as error:
        raise disk_error(error, f"The folder {data.path} cannot be written") from error


def _marker(service: Service, data: DataFolder) -> Path:
    return data.path / f"seeding-{data.prefix}{service.name}"


def seed_service(service: Service, session: Session, data: DataFolder) -> None:
    """Write a service's sample data, with a progress bar, and print how much of it was new."""
    operations = service.seed(time.time()) if service.seed else ()
    new = 0
    with click.progressbar(operations, label=f"Sample data of {service.name}") as shown:
        for operation in shown:
            try:
                session.run(operation)
                new += 1
            except AlreadyExists:
                continue
    _marker(service, data).unlink(missing_ok=True)
    click.echo(f"{service.name}: {new} new, {len(operations) - new} existed already")
