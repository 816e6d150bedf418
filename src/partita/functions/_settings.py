"""What a function is told by its environment, and what it opens by that."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from partita.encryption import KeyProvider, open_keys
from partita.errors import OperationError
from partita.functions._secret import read_secret, secret_for
from partita.queue import Queue, QueuePolicy, open_queue
from partita.service import BrokenService, Installation, Service, find_service
from partita.store import Store, TableNames, named_store, open_store
from partita.store.remote import Credentials


class FunctionSettings(Struct, frozen=True, dict=True):
    """The settings of a function, which the templates of `partita deploy synth` put into its environment."""

    services: tuple[str, ...]
    store: str = "dynamodb://"
    queue: str = "sqs://"
    table_prefix: str = ""
    secret_id: str | None = None
    """Of AWS Secrets Manager."""
    secret_endpoint: str | None = None
    issuer: str | None = None
    audience: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    url: str | None = None
    """Where the services are served."""
    lake: str | None = None
    projections: str | None = None
    """The folder of projections: of a file system that stays."""
    keys: str = ""
    metrics: str = ""
    """`emf`: what it consumes is written to its log, as CloudWatch reads it. Otherwise it is not."""
    name: str = "function"
    """Unique to this environment of the function."""
    credentials: Credentials | None = None
    read_secret: Callable[..., bytes] = read_secret
    """Reads a secret by its id; tests pass their own."""

    def __repr__(self) -> str:
        return f"FunctionSettings({self.services!r})"  # without what is secret

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> FunctionSettings:
        """The settings in an environment.

        Raises:
            OperationError: it names no service.
        """
        services = tuple(environment.get("PARTITA_SERVICES", "").split())
        if not services:
            raise OperationError("The function has no service.", hint="Set PARTITA_SERVICES to its name.")
        return cls(
            services,
            store=environment.get("PARTITA_STORE", "dynamodb://"),
            queue=environment.get("PARTITA_QUEUE", "sqs://"),
            table_prefix=environment.get("PARTITA_TABLE_PREFIX", ""),
            secret_id=environment.get("PARTITA_SECRET_ID"),
            secret_endpoint=environment.get("PARTITA_SECRET_ENDPOINT"),
            issuer=environment.get("PARTITA_ISSUER") or None,
            audience=environment.get("PARTITA_AUDIENCE") or None,
            client_id=environment.get("PARTITA_CLIENT_ID") or None,
            client_secret=environment.get("PARTITA_CLIENT_SECRET") or None,
            url=environment.get("PARTITA_URL"),
            lake=environment.get("PARTITA_LAKE"),
            projections=environment.get("PARTITA_PROJECTIONS"),
            keys=environment.get("PARTITA_KEYS", ""),
            metrics=_metrics(environment.get("PARTITA_METRICS", "")),
            name=environment.get("AWS_LAMBDA_LOG_STREAM_NAME", "function"),
            credentials=_credentials(environment),
        )

    @property
    def table_names(self) -> TableNames:
        """What the declared tables are called in the store."""
        return TableNames(prefix=self.table_prefix)

    def secret(self, purpose: str) -> bytes:
        """The secret for one purpose; the first call reads it.

        Raises:
            OperationError: the environment names none, or it is too short.
        """
        if self.secret_id is None:
            hint = "Set PARTITA_SECRET_ID to a secret of AWS Secrets Manager."
            raise OperationError("The function has no secret.", hint=hint)
        return secret_for(purpose, self._secret_value)

    @cached_property
    def _secret_value(self) -> bytes:
        return self.read_secret(self.secret_id, self.secret_endpoint, credentials=self.credentials)

    def found_services(self) -> list[Service]:
        """The declared services.

        Raises:
            OperationError: one is not installed, or cannot be loaded.
        """
        return [_service(name) for name in self.services]

    def open_store(self) -> Store:
        """The store, under the names that the tables have there."""
        return named_store(open_store(self.store, **self._signed(self.store)), self.table_names)

    def open_queue(self, name: str, policy: QueuePolicy) -> Queue:
        """A queue of a service."""
        return open_queue(self.queue, self.queue_name(name), policy, **self._signed(self.queue))

    def queue_name(self, name: str) -> str:
        """What a queue is called where it is."""
        return f"{self.table_prefix}{name}"

    def open_keys(self) -> KeyProvider | None:
        """The keys of encrypted fields."""
        return open_keys(self.keys)

    def installation(self) -> Installation:
        """What services may use. Files that they write are gone with this environment of the function."""
        return Installation(Path(tempfile.gettempdir()), self.secret, self.open_queue, self.url)

    def _signed(self, address: str) -> dict[str, Any]:
        return {"credentials": self.credentials} if self.credentials is not None and "://" in address else {}


def _metrics(chosen: str) -> str:
    if chosen not in ("", "off", "emf"):
        raise OperationError(f"PARTITA_METRICS is {chosen!r}.", hint="Set it to emf or off.")
    return chosen


def _credentials(environment: Mapping[str, str]) -> Credentials | None:
    """Those that AWS Lambda puts into the environment: without botocore, which takes longer to load than all else."""
    key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    return Credentials(key, secret, environment.get("AWS_SESSION_TOKEN")) if key and secret else None


def _service(name: str) -> Service:
    found = find_service(name)
    if isinstance(found, BrokenService):
        raise OperationError(f"The service {name!r} cannot be loaded: {found.reason}")
    if found is None:
        raise OperationError(
            f"There is no service {name!r}.", hint="Install the package that has it with the function."
        )
    return found
