"""A store that was opened before a fork: the child refuses to use it, and does not disturb its parent.

The forks happen in separate scripts, so that pytest's threads are not part of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

START = """
import asyncio, gc, os, signal, sys, threading
from pathlib import Path
from partita.errors import StoreError
from partita.store._requests import *
from partita.store._schema import *
from partita.store.embedded import EmbeddedStore

signal.alarm(60)  # nobody is left behind, whatever hangs
path = sys.argv[1]
parent_end, wake_parent = os.pipe()
child_end, wake_child = os.pipe()

def note(number):
    return PutItem("notes", {"pk": str(number)})

def attempt(call):
    try:
        call()
    except StoreError as error:
        print(f"{type(error).__name__}: {error}".replace(path, "PATH"), flush=True)
    else:
        print("done", flush=True)

def in_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        work()
        sys.exit()  # with all that an interpreter does at its end
    assert os.waitpid(child, 0)[1] == 0

def numbers(store):
    return sorted(int(item["pk"]) for item in store.execute(ScanTable("notes")).items)

store = EmbeddedStore(path, durable=False)
store.execute(CreateTable(TableSchema("notes", KeyAttribute("pk"))))
store.execute(note(1))
"""

REFUSED = "StoreError: The store PATH was opened before a fork. Open it in each process."


def said(script: str, path: Path | str) -> list[str]:
    command = [sys.executable, "-c", START + script, str(path)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout.splitlines()


USE_ALL = """
asyncio.run(store.execute_async(note(2)))  # there is a writer thread, but only in the parent

def use():
    for call in (
        lambda: store.execute(GetItem("notes", {"pk": "1"})),
        lambda: store.execute(note(3)),
        lambda: asyncio.run(store.execute_async(GetItem("notes", {"pk": "1"}))),
        lambda: asyncio.run(store.execute_async(note(3))),
        store.sweep,
        lambda: store.backup(Path(path).with_name("copy.db")),
        store.verify,
    ):
        attempt(call)

in_child(use)
store.execute(note(4))
print(numbers(store))
"""


@pytest.mark.parametrize("where", ["file", "memory"])
def test_a_child_is_refused_whatever_it_asks(tmp_path: Path, where: str) -> None:
    path = tmp_path / "notes.db" if where == "file" else ":memory:"
    assert said(USE_ALL, path) == [*[REFUSED] * 7, "[1, 2, 4]"]


CLOSE = """
if os.fork() == 0:
    signal.alarm(60)
    os.read(child_end, 1)
    with store:
        pass
    store.close()
    del store
    gc.collect()
    sys.exit()
store.close()
if os.fork() == 0:
    signal.alarm(60)
    EmbeddedStore(path).execute(note(2))
    os._exit(0)  # as if killed: what it wrote is in the log, and nobody has the file open
os.wait()
os.write(wake_child, b"1")
assert os.wait()[1] == 0
print(numbers(EmbeddedStore(path)))
"""


def test_a_child_that_closes_the_store_touches_no_file(tmp_path: Path) -> None:
    assert said(CLOSE, tmp_path / "notes.db") == ["[1, 2]"]


LOCK = """
from partita._sqlite import ProcessLock
store._process_lock.acquire()
if os.fork() == 0:
    signal.alarm(60)
    os.write(wake_parent, b"1")
    os.read(child_end, 1)
    os._exit(0)
os.read(parent_end, 1)
other = ProcessLock(Path(path))
print(other.acquire(blocking=False))
store._process_lock.close()
print(other.acquire(blocking=False))
os.write(wake_child, b"1")
"""


def test_a_child_neither_releases_nor_keeps_the_lock_of_its_parent(tmp_path: Path) -> None:
    assert said(LOCK, tmp_path / "notes.db") == ["False", "True"]


OPEN_AGAIN = """
if os.fork() == 0:
    signal.alarm(60)
    own = EmbeddedStore(path, durable=False)
    own.execute(note(2))
    os.write(wake_parent, b"1")
    os.read(child_end, 1)  # until the parent has closed its own
    for number in range(3, 50):
        own.execute(note(number))
    own.close()
    os._exit(0)  # as processes of multiprocessing end
os.read(parent_end, 1)
store.close()
os.write(wake_child, b"1")
assert os.wait()[1] == 0
with EmbeddedStore(path) as again:
    again.verify()
    print(numbers(again) == list(range(1, 50)))
"""


def test_a_child_that_opens_the_file_itself_loses_nothing(tmp_path: Path) -> None:
    assert said(OPEN_AGAIN, tmp_path / "notes.db") == ["True"]


IN_THE_MIDDLE_OF_A_WRITE = """
begun, enough = threading.Event(), threading.Event()

def wait(*_):
    store._writer.connection.set_update_hook(None)
    begun.set()
    enough.wait()

store._writer.connection.set_update_hook(wait)
writing = threading.Thread(target=store.execute, args=(note(2),))
writing.start()
begun.wait()
in_child(lambda: (attempt(lambda: store.execute(note(3))), attempt(lambda: EmbeddedStore(path))))
enough.set()
writing.join()
store.verify()
print(numbers(store))
"""

BETWEEN_WRITE_AND_COMMIT = IN_THE_MIDDLE_OF_A_WRITE.replace(
    "store._writer.connection.set_update_hook(wait)",
    "notify = store._commit._queue.notify\n"
    "store._commit._queue.notify = lambda: (begun.is_set() or wait(), notify())  # the batch is ready for its COMMIT",
)

IN_USE = "StoreError: The store PATH was in use by another thread when this process was forked. "


@pytest.mark.parametrize("script", [IN_THE_MIDDLE_OF_A_WRITE, BETWEEN_WRITE_AND_COMMIT], ids=["write", "commit"])
def test_a_fork_in_the_middle_of_a_write_of_another_thread_does_it_no_harm(tmp_path: Path, script: str) -> None:
    hint = "Start processes with the method spawn."
    assert said(script, tmp_path / "notes.db") == [REFUSED, IN_USE + hint, "[1, 2]"]
