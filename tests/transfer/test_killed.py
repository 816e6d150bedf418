"""A copying process that is killed repeatedly, over the wire."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from tests.transfer.support import contents, copied, fill, followed, order, records
from tests.wire.support import serving

from partita import EmbeddedStore
from partita.store import PutItem

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, threading
from partita import EmbeddedStore
from partita.store.remote import Credentials, RemoteStore
from partita.transfer import CopyOptions, Side, StoreCopy, TableCopy

def written(items, units):
    print(items, flush=True)

source, target = Side(EmbeddedStore(sys.argv[1])), Side(RemoteStore(sys.argv[2], credentials=Credentials("a", "b")))
copy = TableCopy(source, target, "orders", owner=sys.argv[3], options=CopyOptions(segments=2), on_written=written)
with StoreCopy(source, [copy]) as copies:
    copies.prepare()
    copies.load(every_change=True)
    stop = threading.Event()
    copies.follow(stop, lambda: stop.wait(0.01))
"""


def test_a_process_that_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    """The process prints a line for each batch that it has written, and is killed after some of them."""
    rng = random.Random(1)
    path = tmp_path / "source.db"
    with EmbeddedStore(path, durable=False) as source, EmbeddedStore(tmp_path / "target.db", durable=False) as target:
        fill(source, 1_500)
        with serving(target) as (host, port):
            for run in range(4):
                arguments = [str(path), f"http://{host}:{port}", f"run-{run}"]
                command = [sys.executable, "-c", PROGRAM, *arguments]
                kill_after(command, rng.randrange(3, 15))
                source.execute(PutItem("orders", order(rng.randrange(2_000), n=run)))
        assert len(contents(target)) > 0
        copied(source, target, owner="last")
        assert contents(target) == contents(source)


def kill_after(command: list[str], lines: int) -> None:
    """Run a copy, and kill it after it has printed this number of lines, wherever it is by then."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(lines):
            assert process.stdout.readline() != ""
        process.kill()


def test_a_process_that_is_killed_while_it_follows_applies_each_change_once(tmp_path: Path) -> None:
    rng = random.Random(2)
    path = tmp_path / "source.db"
    with EmbeddedStore(path, durable=False) as source, EmbeddedStore(tmp_path / "target.db", durable=False) as target:
        fill(source, 20)
        copied(source, target)
        old, copied_items = len(records(source)), len(records(target))
        with serving(target) as (host, port):
            for run in range(3):
                for n in range(60):  # few items, so that each has many changes
                    source.execute(PutItem("orders", order(rng.randrange(10), n=60 * run + n)))
                kill_after([sys.executable, "-c", PROGRAM, str(path), f"http://{host}:{port}", f"run-{run}"], 5)
        followed(source, target, "last")
        assert records(target, copied_items) == records(source, old)
