"""A copying process that is killed by the system, again and again, over the wire."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from tests.transfer.support import contents, copied, fill, order
from tests.wire.support import serving

from partita import EmbeddedStore
from partita.store import PutItem

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from partita import EmbeddedStore
from partita.store.remote import Credentials, RemoteStore
from partita.transfer import CopyOptions, Side, StoreCopy, TableCopy

def written(items, units):
    print(items, flush=True)

source, target = Side(EmbeddedStore(sys.argv[1])), Side(RemoteStore(sys.argv[2], credentials=Credentials("a", "b")))
copy = TableCopy(source, target, "orders", owner=sys.argv[3], options=CopyOptions(segments=2), on_written=written)
with StoreCopy(source, [copy]) as copies:
    copies.prepare()
    copies.load()
"""


def test_a_process_that_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    """It says each batch that it has written, and dies after some of them, wherever it is by then."""
    chance = random.Random(1)
    path = tmp_path / "source.db"
    with EmbeddedStore(path, durable=False) as source, EmbeddedStore(tmp_path / "target.db", durable=False) as target:
        fill(source, 1_500)
        with serving(target) as (host, port):
            for run in range(4):
                arguments = [str(path), f"http://{host}:{port}", f"run-{run}"]
                command = [sys.executable, "-c", PROGRAM, *arguments]
                with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
                    assert process.stdout is not None
                    for _ in range(chance.randrange(3, 15)):
                        assert process.stdout.readline() != ""
                    process.kill()
                source.execute(PutItem("orders", order(chance.randrange(2_000), n=run)))
        assert len(contents(target)) > 0
        copied(source, target, owner="last")
        assert contents(target) == contents(source)
