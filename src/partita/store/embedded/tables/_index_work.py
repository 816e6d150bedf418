"""Creating and deleting indexes of existing tables. The modules for it are rarely needed, so they are loaded lazily."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import apsw

from partita._sqlite import Handler
from partita.store._requests import CreateIndex, DeleteIndex, TableDescription
from partita.store.embedded._table import Table


def create_index(
    write: Callable[[Any], Any], connected: Callable[[], AbstractContextManager[apsw.Connection]], request: CreateIndex
) -> TableDescription:
    """Add a global index and fill it; see `_index_build.py`."""
    from partita.store.embedded.tables._index_build import create_index  # noqa: PLC0415 - see above

    return create_index(write, connected, request)


def delete_index(write: Callable[[Any], Any], request: DeleteIndex) -> TableDescription:
    """Delete a global index; see `_index_removal.py`."""
    from partita.store.embedded.tables._index_removal import delete_index  # noqa: PLC0415 - see above

    return delete_index(write, request)


def index_steps() -> Mapping[type, Handler]:
    """The function that executes each step of both, by the type of the request."""
    from partita.store.embedded.tables._index_removal import REMOVAL  # noqa: PLC0415 - see above
    from partita.store.embedded.tables._indexes import INDEXES  # noqa: PLC0415 - see above

    return {**INDEXES, **REMOVAL}


def clear_leftovers(connection: apsw.Connection) -> bool:
    """Clear some leftovers of deleted indexes. Return True if there may be more."""
    from partita.store.embedded.tables._leftovers import clear_some  # noqa: PLC0415 - see above

    return not clear_some(connection).is_done


def drop_leftovers(connection: apsw.Connection, table: Table) -> None:
    """Drop the separate tables that unfinished and deleted indexes of a deleted table have."""
    from partita.store.embedded.tables._leftovers import drop_all  # noqa: PLC0415 - see above

    drop_all(connection, table)
