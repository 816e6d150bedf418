"""Stores that commands read from and write to, by address: a file or data folder, DynamoDB, a compatible server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click
from msgspec import Struct

from partita.cli._data_folder import EMBEDDED, DataFolder, default_folder
from partita.cli._names import named
from partita.errors import CopyRefused, StoreError
from partita.folder import current_folder
from partita.runtime import is_loopback
from partita.store import Store, TableNames, is_path, open_store
from partita.transfer import Side, tables_of

SETTLE_SECONDS: Final = 10.0
"""How long a record may take to appear in a stream of DynamoDB."""
ADDRESS: Final = "embedded, a data folder, a database file, dynamodb://REGION, or the URL of a compatible server"


class Address(Struct, frozen=True):
    """The address of a store, as given on the command line."""

    text: str

    @property
    def scheme(self) -> str:
        """`dynamodb`, `http` or `https`; empty for a file."""
        return urlsplit(self.text).scheme if "://" in self.text else ""

    @property
    def costs(self) -> bool:
        """Whether its units cost money."""
        return self.scheme == "dynamodb"

    @contextmanager
    def opened(self, prefix: str = "", *, must_exist: bool = False) -> Iterator[Side]:
        """Open the store while the block runs.

        Raises:
            OperationError: the address cannot be used. StoreError: the store cannot be opened.
        """
        store = self._open(must_exist=must_exist)
        try:
            yield Side(store, TableNames(prefix=prefix), self._settle)
        finally:
            store.close()

    @property
    def _settle(self) -> float:
        if not self.scheme or is_loopback(urlsplit(self.text).hostname or ""):
            return 0.0
        return SETTLE_SECONDS

    def _open(self, *, must_exist: bool) -> Store:
        if not is_path(self.text):
            return open_store(self.text)
        path = Path(os.environ.get("PARTITA_DATA") or default_folder()) if self.text == EMBEDDED else Path(self.text)
        if path.suffix == "" or path.is_dir():
            folder = DataFolder(current_folder(path))
            return folder.open_existing("name another store") if must_exist else folder.open()
        if must_exist and not path.exists():
            raise StoreError(f"The database {path} does not exist.", hint="Give the path of its file or folder.")
        return open_store(str(path))


class _AddressType(click.ParamType[Address]):
    name = "store"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        """Wrap the text, which is not checked yet. An empty one would be the working directory."""
        if value == "":
            self.fail("The address is empty. Write . for the working directory.", param, ctx)
        return value if isinstance(value, Address) else Address(value)


def address_option(name: str, parameter: str, what: str, default: Address | None = None) -> Callable[[Any], Any]:
    """An option whose value is the address of a store."""
    if default is not None:
        return click.option(
            name,
            parameter,
            type=_AddressType(),
            default=default.text,
            show_default=True,
            metavar="STORE",
            help=f"{what}: {ADDRESS}.",
        )
    return click.option(
        name, parameter, type=_AddressType(), required=True, metavar="STORE", help=f"{what}: {ADDRESS}."
    )


def chosen_tables(store: Store, names: Sequence[str]) -> tuple[str, ...]:
    """The named tables, and those of the named services; all tables of the store if there are no names.

    Raises:
        CopyRefused: a name is neither a table nor a service.
    """
    there = tables_of(store)
    if not names:
        return there
    found: dict[str, None] = {}
    for name in names:
        if name in there:
            found[name] = None
            continue
        service = named(name)
        if service is None:
            hint = f"The store has: {', '.join(there) or 'no tables'}."
            raise CopyRefused(f"There is neither a table nor a service {name!r}.", hint=hint)
        found |= {table.name: None for table in service.tables if table.name in there}
    return tuple(found)
