"""The data folder: it contains the embedded database, and the secret that signs tokens and seals cursors."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
from msgspec import Struct

from partita import EmbeddedStore
from partita.encryption import KeyProvider, open_keys
from partita.errors import OperationError, SecretExposed, StoreDamaged, StoreError, StoreMoved
from partita.folder import current_folder, finish_replacement
from partita.queue import Queue, QueuePolicy, open_queue
from partita.runtime import disk_error, make_private_folder, protecting_command
from partita.store import Store, TableNames, is_path, named_store, open_store

_SECRET_BYTES: Final = 32
EMBEDDED: Final = "embedded"
_BESIDE: Final = ("secret.key", "queue-*.db", "*-projection.db")
"""Files that a folder contains in addition to the database after it has been used."""

Command: TypeAlias = Callable[..., Any]


class DataFolder(Struct, frozen=True):
    """The folder for the persistent data of one installation; its items may be in a store elsewhere."""

    path: Path
    store: str = EMBEDDED
    queue: str = EMBEDDED
    prefix: str = ""
    """Prefix of the names of tables and queues, and of files that are derived from them."""
    profile: str | None = None
    is_in_use: bool = False
    """Whether the running command has opened the folder before. If so, the folder is not created again when missing."""

    @property
    def has_vanished(self) -> bool:
        """Whether the folder was in use, and no longer exists."""
        database = self.database if self.store == EMBEDDED else self.path
        return self.is_in_use and not database.exists()

    @property
    def table_names(self) -> TableNames:
        """The names of the declared tables in the store."""
        return TableNames(prefix=self.prefix)

    def queue_name(self, name: str) -> str:
        """The name of a queue with the prefix."""
        return f"{self.prefix}{name}"

    @property
    def database(self) -> Path:
        """The file of the embedded database."""
        return self.path / "partita.db"

    def create(self) -> None:
        """Create the folder, accessible to its owner only, if it does not exist. An existing folder keeps its mode.

        Raises:
            StoreReadOnly: it cannot be created. StoreError: its name is not UTF-8.
            StoreMoved: it was in use, and is gone.
        """
        if self.has_vanished:
            raise StoreMoved(f"The folder {self.path} was moved or deleted while it was in use.")
        try:
            str(self.path).encode()
            make_private_folder(self.path)
            finish_replacement(self.path)
        except UnicodeEncodeError as error:
            hint = "SQLite requires UTF-8 names. Choose another folder with --data."
            raise StoreError(f"The name of the folder {str(self.path)!a} is not UTF-8.", hint=hint) from error
        except OSError as error:
            raise disk_error(error, f"The folder {self.path} cannot be created") from error

    def open_store(self, *, sweep_every: float | None = None, must_exist: bool = False) -> Store:
        """Open the store that `--store` names; by default the database in this folder.

        Raises:
            OperationError: the address cannot be used. StoreError: the store cannot be opened.
        """
        names = self.table_names
        if self.store != EMBEDDED:
            if must_exist and is_path(self.store) and not Path(self.store).exists():
                raise StoreError(f"The database {self.store} does not exist.", hint="Give the path of its file.")
            return named_store(open_store(self.store, profile=self.profile), names)
        return named_store(self.open_existing() if must_exist else self.open(sweep_every=sweep_every), names)

    def open_queue(self, name: str, policy: QueuePolicy | None = None) -> Queue:
        """Open the queue of that name at the address that `--queue` names; by default in this folder.

        Raises:
            OperationError: the address cannot be used. StoreError: the queue cannot be opened.
        """
        name = self.queue_name(name)
        if self.queue != EMBEDDED:
            return open_queue(self.queue, name, policy, profile=self.profile)
        self.create()
        return open_queue(self.path, name, policy)

    def open(self, *, sweep_every: float | None = None) -> EmbeddedStore:
        """Open the database, and create it if it does not exist.

        Raises:
            StoreError: it cannot be opened.
        """
        self.create()
        self._refuse_emptied()
        return EmbeddedStore(self.database, sweep_every=sweep_every)

    def open_region(self, region: str, *, sweep_every: float | None = None) -> EmbeddedStore:
        """Open the database of one region, which is a separate file in the folder.

        Raises:
            StoreError: it cannot be opened.
        """
        self.create()
        return EmbeddedStore(self.path / f"partita-{region}.db", sweep_every=sweep_every)

    def regions(self) -> list[str]:
        """The regions that have a separate database."""
        return sorted(found.stem.removeprefix("partita-") for found in self.path.glob("partita-*.db"))

    def open_existing(self, otherwise: str = "name another folder with --data") -> EmbeddedStore:
        """Open the database, which must exist; `otherwise` ends the hint if it does not.

        Raises:
            StoreError: it does not exist, or cannot be opened.
        """
        finish_replacement(self.path)
        if not self.database.exists():
            hint = f"Start `partita serve` or `partita dynamodb` first, or {otherwise}."
            place = self.path if self.path.name else self.path.absolute()  # `.` would look like the end of the sentence
            raise StoreError(f"There is no database in {place}.", hint=hint)
        self._refuse_emptied()
        return EmbeddedStore(self.database)

    def _refuse_emptied(self) -> None:
        """Refuse an empty database file if other files in the folder show that it was in use.

        SQLite would turn the empty file into a new database.
        """
        if not self.database.exists() or self.database.stat().st_size:
            return
        if beside := sorted(found.name for pattern in _BESIDE for found in self.path.glob(pattern)):
            hint = "Restore it from a backup (`partita restore`), or delete it to begin with a new one."
            raise StoreDamaged(f"The database {self.database} is empty, although {beside[0]} exists.", hint=hint)

    def keys(self) -> KeyProvider | None:
        """The keys of encrypted fields that `PARTITA_KEYS` names (a file, or `kms:KEY`), or None if it is not set.

        Raises:
            OperationError: they cannot be used. SecretExposed: other users can read the file.
        """
        return open_keys(os.environ.get("PARTITA_KEYS", ""))

    @property
    def has_key(self) -> bool:
        """Whether the key that signs tokens exists, or is in the environment."""
        return bool(os.environ.get("PARTITA_SECRET")) or (self.path / "secret.key").exists()

    def secret(self, purpose: str) -> bytes:
        """The secret for one purpose, derived from a key that is created on first use and never changes.

        `PARTITA_SECRET` replaces that key, for processes that need the same key but share no folder.

        Raises:
            OperationError: `PARTITA_SECRET` is too short.
            StoreReadOnly: the key can be neither read nor created. StoreDamaged: a part of it is missing.
            SecretExposed: other users can read or replace it.
        """
        self.create()
        if given := os.environ.get("PARTITA_SECRET", ""):
            return hmac.digest(_long_enough(given.encode()), purpose.encode(), hashlib.sha256)
        path = self.path / "secret.key"
        try:
            key = _read_or_make(path)
            remedy = protecting_command(path)
        except OSError as error:
            raise disk_error(error, f"The key {path} cannot be used") from error
        if len(key) != _SECRET_BYTES:  # signatures made with a shorter key could be forged
            hint = "Restore it, or delete it, which ends all tokens."
            raise StoreDamaged(f"The key {path} has {len(key)} bytes, not {_SECRET_BYTES}.", hint=hint)
        if remedy is not None:
            hint = f"Run `{remedy}`. If others may have read the key, delete it, which ends all tokens."
            raise SecretExposed(f"Other users can read or replace the key {path}.", hint=hint)
        return hmac.digest(key, purpose.encode(), hashlib.sha256)


def _long_enough(key: bytes) -> bytes:
    if len(key) < _SECRET_BYTES:
        hint = f"Use at least {_SECRET_BYTES} random bytes."
        raise OperationError(f"PARTITA_SECRET has only {len(key)} bytes.", hint=hint)
    return key


def _read_or_make(path: Path) -> bytes:
    if not path.exists():
        handle, unfinished = tempfile.mkstemp(dir=path.parent)  # readable by its owner only
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_SECRET_BYTES))
                file.flush()
                os.fsync(file.fileno())
            os.link(unfinished, path)  # atomic, and never replaces the key of another process
        except FileExistsError:
            pass
        finally:
            Path(unfinished).unlink()
    return path.read_bytes()


def default_folder() -> Path:
    """The folder in the user's data directory, by the rules of the platform."""
    if sys.platform in ("win32", "darwin"):
        return Path(click.get_app_dir("partita"))
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "partita"


class FolderPath(click.Path):
    """The path of a folder. An empty one, as of an unset variable of the shell, would be the working directory."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an empty path."""
        if value == "":
            self.fail("The path is empty. Write . for the working directory.", param, ctx)
        return super().convert(value, param, ctx)


_DATA: Final = click.option(
    "--data",
    envvar="PARTITA_DATA",
    type=FolderPath(),
    default=default_folder,
    show_default="partita in your data directory",
    show_envvar=True,
    help="Folder of the embedded database.",
)

_STORE: Final = click.option(
    "--store",
    envvar="PARTITA_STORE",
    default=EMBEDDED,
    show_default=True,
    show_envvar=True,
    metavar="URL",
    help="Where the items are: dynamodb://REGION, the URL of a compatible server, a database file, or embedded (in the "
    "--data folder).",
)

_QUEUE: Final = click.option(
    "--queue",
    envvar="PARTITA_QUEUE",
    default=EMBEDDED,
    show_default=True,
    show_envvar=True,
    metavar="URL",
    help="Where messages are queued: sqs://REGION, the URL of an SQS server, or embedded (in the --data folder).",
)


def _check_prefix(context: click.Context, parameter: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's
    try:
        TableNames(prefix=value)
    except OperationError as error:
        raise click.BadParameter(str(error)) from None
    return value


prefix_option: Final = click.option(
    "--table-prefix",
    envvar="PARTITA_TABLE_PREFIX",
    default="",
    callback=_check_prefix,
    show_envvar=True,
    metavar="TEXT",
    help="Prefix of the names of tables and queues, such as dev-.",
)
"""The option `--table-prefix`, passed to the command as text."""

profile_option: Final = click.option(
    "--profile",
    metavar="NAME",
    help="Profile of the AWS configuration files whose credentials and region are used. [env var: AWS_PROFILE]",
)
"""The option `--profile`, passed to the command as the name of the profile."""


def _folder_from(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Declare options on a command, which receives one `DataFolder` built from all of them as `data`."""

    def declare(command: Command) -> Command:
        @wraps(command)
        def run(
            *args: Any,
            data: Path,
            store: str = EMBEDDED,
            queue: str = EMBEDDED,
            table_prefix: str = "",
            profile: str | None = None,
            **others: Any,
        ) -> Any:
            folder = DataFolder(current_folder(data), store, queue, table_prefix, profile)
            return command(*args, data=folder, **others)

        declared: Command = run
        for option in reversed(options):
            declared = option(declared)
        return declared

    return declare


whole_folder_option = _DATA
"""The option `--data`, passed to the command as the path of the folder itself, whichever branch is current."""

data_option = _folder_from(_DATA)
"""The option `--data`, passed to the command as a `DataFolder`."""

store_options = _folder_from(_DATA, _STORE, prefix_option, profile_option)
"""The options `--data`, `--store`, `--table-prefix` and `--profile`, for commands that use `DataFolder.open_store`."""

queue_options = _folder_from(_DATA, _QUEUE, prefix_option, profile_option)
"""The options `--data`, `--queue`, `--table-prefix` and `--profile`, for commands that use `DataFolder.open_queue`."""

store_and_queue_options = _folder_from(_DATA, _STORE, _QUEUE, prefix_option, profile_option)
"""The options `--data`, `--store`, `--queue`, `--table-prefix` and `--profile`."""
