"""A client that sends each request unchanged: no validation, no translation, a retry only after a broken connection."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from copy import copy
from itertools import count
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from msgspec import Struct
from tests.fidelity._shapes import SHAPES

Json = dict[str, Any]
R = TypeVar("R")

_STREAMS: Final = {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}
_UNKNOWN: Final = ("UnknownOperationException", "NotImplemented", "UnknownOperation")
_NOT_IMPLEMENTED: Final = 501
_WAIT_SECONDS: Final = 120.0
LOCAL: Final = Credentials("local", "local")


class Refused(Exception):
    """A call that the endpoint refused, with the type, the message and the whole body of the error."""

    def __init__(self, status: int, body: Json, *, ever_answered: bool = True) -> None:
        self.status = status
        self._is_mute = not ever_answered
        self.body = body
        self.kind = str(body.get("__type", "")).rpartition("#")[2]
        self.message = str(body.get("message") or body.get("Message") or "")
        super().__init__(f"{self.kind}: {self.message}")

    @property
    def is_absent(self) -> bool:
        """Whether the endpoint does not know the operation at all."""
        says_so = "not supported by this endpoint" in self.message
        return self._is_mute or says_so or self.status == _NOT_IMPLEMENTED or self.kind.startswith(_UNKNOWN)


class Reply(Struct, frozen=True):
    """A response as received."""

    status: int
    headers: dict[str, str]
    content: bytes

    def body(self) -> Json:
        """Return the body parsed from JSON; if it is not a JSON object, return an error without a type."""
        try:
            read = json.loads(self.content or b"{}")
        except ValueError:
            read = {"message": self.content[:200].decode(errors="replace")}
        return read if isinstance(read, dict) else {"message": repr(read)}


class Api:
    """Calls operations of one endpoint, and creates shared tables when a probe first uses them."""

    def __init__(
        self,
        url: str,
        *,
        credentials: Credentials = LOCAL,
        region: str = "us-east-1",
        prefix: str = "fidelity-",
        patience: float = 0.0,
    ) -> None:
        """Create a client. `patience` is the timeout of `eventually` in seconds: 0 for a consistent endpoint."""
        self.prefix = prefix
        self.region = region
        self.calls = 0
        self._url = urlsplit(url)
        self._credentials = credentials
        self._patience = patience
        self._numbers = count(1)
        self._connections: dict[str, http.client.HTTPConnection] = {}
        self._tables: dict[str, str] = {}
        self._made: list[str] = []
        self._answered: set[str] = set()
        """Operations that have responded in DynamoDB's form; one that never did counts as absent."""

    # --- calls ---

    def __call__(self, operation: str, **parameters: Any) -> Json:
        """Call an operation, and return its response.

        Raises:
            Refused: the endpoint returned an error.
        """
        reply = self.send(operation, json.dumps(parameters).encode())
        body = reply.body()
        if reply.status == http.HTTPStatus.OK or "__type" in body:
            self._answered.add(operation)
        if reply.status != http.HTTPStatus.OK:
            raise Refused(reply.status, body, ever_answered=operation in self._answered)
        return body

    def send(self, operation: str, content: bytes, headers: dict[str, str] | None = None) -> Reply:
        """Send a body unchanged, and return the response."""
        self.calls += 1
        version = "DynamoDBStreams_20120810" if operation in _STREAMS else "DynamoDB_20120810"
        host = self._host(operation)
        sent = {
            "host": host,
            "content-type": "application/x-amz-json-1.0",
            "x-amz-target": f"{version}.{operation}",
            **(headers or {}),
        }
        signed = self._signed(content, sent, host)
        connection = self._connection(host)
        try:
            return _exchange(connection, content, signed)
        except (http.client.HTTPException, OSError):  # the server closed the connection, or it broke
            connection.close()
            return _exchange(connection, content, signed)

    def _host(self, operation: str) -> str:
        host = self._url.netloc
        is_aws = host.endswith(".amazonaws.com")
        return f"streams.{host}" if is_aws and operation in _STREAMS else host

    def _connection(self, host: str) -> http.client.HTTPConnection:
        if host not in self._connections:
            kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
            self._connections[host] = kind(host, timeout=60)
        return self._connections[host]

    def _signed(self, content: bytes, headers: dict[str, str], host: str) -> dict[str, str]:
        request = AWSRequest("POST", f"{self._url.scheme}://{host}/", headers=headers, data=content)
        SigV4Auth(self._credentials, "dynamodb", self.region).add_auth(request)
        return dict(request.headers.items())

    # --- tables ---

    def table(self, shape: str) -> str:
        """Return the table of this shape, which all probes share; each probe uses its own keys."""
        return self.shared_table(shape, SHAPES[shape])

    def shared_table(self, name: str, definition: Json) -> str:
        """Return the table of this name, which the probes of one module share."""
        if name not in self._tables:
            self._tables[name] = self.new_table(**definition)
        return self._tables[name]

    def new_table(self, **definition: Any) -> str:
        """Create a table for this probe alone, and wait until it is active; `delete_tables` deletes it."""
        name = self.new_name()
        self("CreateTable", **{"BillingMode": "PAY_PER_REQUEST", **definition, "TableName": name})
        self._made.append(name)
        self.wait_until_active(name)
        return name

    def new_name(self) -> str:
        """Return a name that no table has."""
        return f"{self.prefix}{next(self._numbers)}"

    def will_make(self, name: str) -> str:
        """Register a table that a probe creates itself, so that `delete_tables` deletes it."""
        self._made.append(name)
        return name

    def wait_until_active(self, name: str) -> Json:
        """Wait until a table and its indexes are active, or for two minutes; return its description."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            table: Json = self("DescribeTable", TableName=name)["Table"]
            states = [table["TableStatus"], *(each["IndexStatus"] for each in table.get("GlobalSecondaryIndexes", ()))]
            if set(states) == {"ACTIVE"} or time.monotonic() > deadline:
                return table
            time.sleep(0.05 if not self._patience else 2)

    def delete_tables(self) -> None:
        """Delete every table that was created."""
        for name in self._made:
            with suppress(Refused):
                self.wait_until_active(name)
                with suppress(Refused):  # it is not protected, or the endpoint knows no protection
                    self("UpdateTable", TableName=name, DeletionProtectionEnabled=False)
                    self.wait_until_active(name)
                self("DeleteTable", TableName=name)
        self._made.clear()
        self._tables.clear()

    @contextmanager
    def another(self) -> Iterator[Api]:
        """Yield a client of the same endpoint with its own connections, for another thread."""
        other = copy(self)
        other._connections = {}
        with closing(other):
            yield other

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    # --- items ---

    def new_key(self, sort: str | None = None) -> Json:
        """Return a key that no item has; with a sort key if one is given."""
        key: Json = {"pk": {"S": f"k{next(self._numbers)}"}}
        return key if sort is None else {**key, "sk": {"S": sort}}

    def new_token(self) -> str:
        """Return a token that no transaction has used."""
        return str(uuid.uuid4())

    def put(self, shape: str, item: Json) -> None:
        """Write an item."""
        self("PutItem", TableName=self.table(shape), Item=item)

    def get(self, shape: str, key: Json) -> Json | None:
        """Return an item with a consistent read; None if there is none."""
        item: Json | None = self("GetItem", TableName=self.table(shape), Key=key, ConsistentRead=True).get("Item")
        return item

    def eventually(self, ask: Callable[[], R], wanted: Callable[[R], bool]) -> R:
        """Call `ask` until its result is as wanted or the timeout is over; return the last result."""
        deadline = time.monotonic() + self._patience
        while not wanted(found := ask()) and time.monotonic() < deadline:
            time.sleep(0.5)
        return found


def _exchange(connection: http.client.HTTPConnection, content: bytes, headers: dict[str, str]) -> Reply:
    connection.request("POST", "/", content, headers)
    response = connection.getresponse()
    return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
