"""The guide to DynamoDB, run from the first command to the last, with a wire server instead of AWS."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.wire.support import serving

from partita import EmbeddedStore
from partita.store import DeleteItem, PutItem, ScanTable, Store
from partita.store.remote import Credentials, RemoteStore

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "moving-to-dynamodb.md"
COMMANDS = re.findall(r"^ *\$ (partita .*)$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)[2:]
"""The commands of the guide without the first two, which are shown again further down."""
PARTITA = 'from partita.cli import main; main(prog_name="partita")'
TABLE = "todo-app-data"


class Reader:
    """A reader who types the commands of the guide."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self._left = iter(COMMANDS)

    def _process(self) -> subprocess.Popen[str]:
        command = next(self._left).replace("dynamodb://eu-west-1", self._url)
        arguments = [sys.executable, "-c", PARTITA, *shlex.split(command)[1:]]
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        return subprocess.Popen(
            arguments, cwd=self._folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def types(self) -> str:
        """Run the next command to its end."""
        with self._process() as process:
            output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
        return output

    @contextmanager
    def follows(self) -> Iterator[None]:
        """Run the next command, which follows changes, while the block runs."""
        with self._process() as process:
            assert process.stdout is not None
            said = iter(process.stdout.readline, "")
            try:
                assert any("Following changes" in line for line in said)
                yield
            finally:
                process.send_signal(signal.SIGTERM)
            assert "Stopped, with a lag of " in process.stdout.read()

    def is_done(self) -> bool:
        return next(self._left, None) is None


def contents(store: Store) -> dict[tuple[str, str], dict[str, object]]:
    return {(item["PK"], item["SK"]): item for item in store.execute(ScanTable(TABLE)).items}


def put(store: Store, name: str) -> None:
    store.execute(PutItem(TABLE, {"PK": name, "SK": name}))


@pytest.mark.slow
def test_the_guide_from_the_first_command_to_the_last(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", PARTITA, "seed", "todo", "--data", str(tmp_path / "data")], check=True)
    with (
        EmbeddedStore(tmp_path / "data" / "partita.db") as embedded,
        EmbeddedStore(tmp_path / "aws.db", durable=False) as cloud,
        serving(cloud) as (host, port),
        RemoteStore(f"http://{host}:{port}", credentials=Credentials("a", "b")) as dynamodb,
    ):
        reader = Reader(tmp_path, f"http://{host}:{port}")
        with reader.follows():
            put(embedded, "written-while-it-follows")
            assert ", 0 differ." in reader.types()
            reader.types()
        put(embedded, "written-before-the-switch")
        reader.types()
        assert contents(dynamodb) == contents(embedded)
        reader.types()
        put(dynamodb, "written-after-the-switch")
        dynamodb.execute(DeleteItem(TABLE, {"PK": "written-before-the-switch", "SK": "written-before-the-switch"}))
        with reader.follows():
            put(dynamodb, "written-on-dynamodb")
        reader_before = contents(dynamodb)
        put(embedded, "nobody-writes-here-any-more")
        reader.types()
        assert contents(embedded) == contents(dynamodb) == reader_before
        assert ("written-after-the-switch", "written-after-the-switch") in reader_before
        assert reader.is_done()
