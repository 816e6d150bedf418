"""The settings of a function from its environment variables, and the resources that it opens with them."""

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
    """The settings of a function, which the templates of `partita deploy synth` set as environment variables."""

    services: tuple[str, ...]
    store: str = "dynamodb://"
    queue: str = "sqs://"
    table_prefix: str = ""
    secret_id: str | None = None
    """The id of the secret in AWS Secrets Manager."""
    secret_endpoint: str | None = None
    issuer: str | None = None
    audience: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    url: str | None = None
    """The public URL of the services."""
    lake: str | None = None
    projections: str | None = None
    """The folder of projections, in a persistent file system."""
    keys: str = ""
    metrics: str = ""
    """`emf`: write the consumption to the log, in CloudWatch's embedded metric format. Otherwise do not."""
    name: str = "function"
    """Unique to this execution environment."""
    credentials: Credentials | None = None
    read_secret: Callable[..., bytes] = read_secret
    """Reads a secret by its id; tests pass their own."""

    def __repr__(self) -> str:
        return f"FunctionSettings({self.services!r})"  # without the secrets

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> FunctionSettings:
        """Read the settings from environment variables.

        Raises:
            OperationError: they name no service.
        """
        services = tuple(environment.get("PARTITA_SERVICES", "").split())
        if not services:
            raise OperationError("The function has no service.", hint="Set PARTITA_SERVICES to the name of a service.")
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
        """The names of the declared tables in the store."""
        return TableNames(prefix=self.table_prefix)

    def secret(self, purpose: str) -> bytes:
        """Return the secret for one purpose; the first call reads the installation's secret.

        Raises:
            OperationError: the environment names no secret, or the secret is too short.
        """
        if self.secret_id is None:
            hint = "Set PARTITA_SECRET_ID to a secret of AWS Secrets Manager."
            raise OperationError("The function has no secret.", hint=hint)
        return secret_for(purpose, self._secret_value)

    @cached_property
    def _secret_value(self) -> bytes:
        return self.read_secret(self.secret_id, self.secret_endpoint, credentials=self.credentials)

    def found_services(self) -> list[Service]:
        """Return the services that the settings name.

        Raises:
            OperationError: a service is not installed, or cannot be loaded.
        """
        return [_service(name) for name in self.services]

    def open_store(self) -> Store:
        """Open the store, in which tables have their stored names."""
        return named_store(open_store(self.store, **self._signed(self.store)), self.table_names)

    def open_queue(self, name: str, policy: QueuePolicy) -> Queue:
        """Open a queue of a service."""
        return open_queue(self.queue, self.queue_name(name), policy, **self._signed(self.queue))

    def queue_name(self, name: str) -> str:
        """The stored name of a queue."""
        return f"{self.table_prefix}{name}"

    def open_keys(self) -> KeyProvider | None:
        """Open the keys of encrypted fields; None if there are none."""
        return open_keys(self.keys)

    def installation(self) -> Installation:
        """Return what services may use. Files that they write are lost with this execution environment."""
        return Installation(Path(tempfile.gettempdir()), self.secret, self.open_queue, self.url)

    def _signed(self, address: str) -> dict[str, Any]:
        return {"credentials": self.credentials} if self.credentials is not None and "://" in address else {}


def _metrics(chosen: str) -> str:
    if chosen not in ("", "off", "emf"):
        raise OperationError(f"PARTITA_METRICS must not be {chosen!r}.", hint="Set it to emf or off.")
    return chosen


def _credentials(environment: Mapping[str, str]) -> Credentials | None:
    """Read the credentials from the environment directly: botocore takes longer to import than everything else."""
    key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    return Credentials(key, secret, environment.get("AWS_SESSION_TOKEN")) if key and secret else None


def _service(name: str) -> Service:
    found = find_service(name)
    if isinstance(found, BrokenService):
        raise OperationError(f"The service {name!r} cannot be loaded: {found.reason}")
    if found is None:
        raise OperationError(
            f"There is no service {name!r}.", hint="Install the package that contains it with the function."
        )
    return found
