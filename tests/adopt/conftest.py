"""A wire server that every tool can write to, and the model adopted from one of its tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import pytest
from msgspec import Struct
from tests.wire.clients.client import KEY, REGION, SECRET, boto3_client
from tests.wire.support import serving

from partita import REGISTRY, EmbeddedStore
from partita.adopt import Adoption, adopt_items, describe, read_sample
from partita.runtime import run
from partita.store import open_store

_PROGRAM = """\
from contextlib import closing
from decimal import Decimal
from datetime import UTC, datetime
from partita import Session, delete, f, insert, put, update
from partita.store import open_store

with closing(open_store({url!r})) as store:
    db = Session(store)
{program}
"""


class Server(Struct, frozen=True):
    """A wire server, and the folder for the model of one of its tables."""

    url: str
    folder: Path

    @property
    def client(self) -> Any:
        """A low-level boto3 client for the server."""
        return boto3_client("dynamodb", self.url)

    def create(self, table: dict[str, Any], items: list[dict[str, Any]]) -> None:
        """Create a table with items, both in DynamoDB's JSON."""
        with closing(self.client) as client:
            client.create_table(**table)
            for item in items:
                client.put_item(TableName=table["TableName"], Item=item)

    def adopt(self, table: str) -> Adoption:
        """Infer, write and prove the model of a table, as `partita adopt` does."""
        with closing(open_store(self.url)) as store:
            found = run(describe(table), store.execute)
            sample = run(read_sample(found, 1_000), store.execute)
        return adopt_items(sample.schema, sample.items, self.folder / "model.py")

    @property
    def model(self) -> str:
        """The source text of the model."""
        return (self.folder / "model.py").read_text(encoding="utf-8")

    def run(self, program: str) -> str:
        """Run a program that uses the model, and return its output."""
        code = f"{self.model}\n{_PROGRAM.format(url=self.url, program=indent(program, '    '))}"
        printed, module = StringIO(), ModuleType("adopted")
        with pytest.MonkeyPatch.context() as patched, redirect_stdout(printed):
            patched.setattr(REGISTRY, "_tables", {})
            patched.setitem(sys.modules, module.__name__, module)
            exec(compile(code, "model.py", "exec", dont_inherit=True), vars(module))  # noqa: S102
        return printed.getvalue().strip()

    def item(self, table: str, **key: str) -> dict[str, Any]:
        """Return a stored item in DynamoDB's JSON."""
        with closing(self.client) as client:
            found = client.get_item(TableName=table, Key={name: {"S": text} for name, text in key.items()})
        return dict(found["Item"])


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    folder = tmp_path / "project"
    folder.mkdir()
    with EmbeddedStore(tmp_path / "wire.db", durable=False) as store, serving(store) as (host, port):
        yield Server(f"http://{host}:{port}", folder)


def recorded(tool: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a recorded table and its items, which a tool from npm once wrote, for tests that need no server."""
    path = Path(__file__).parent / "recorded" / f"{tool}.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["table"], found["items"]
