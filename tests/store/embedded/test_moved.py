"""A file that is moved or deleted while it is open: a write that would be lost is not acknowledged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.embedded.support import enqueue, note, read

from partita.errors import StoreMoved
from partita.queue import Send
from partita.queue.embedded import EmbeddedQueue
from partita.store._requests import DescribeTable
from partita.store.embedded import EmbeddedStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="an open file cannot be moved")


def removed(path: Path) -> None:
    shutil.rmtree(path.parent)


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replaced(path: Path) -> None:
    path.unlink()
    EmbeddedStore(path).close()


@pytest.mark.parametrize("become", [removed, moved, replaced])
def test_no_write_is_acknowledged(become: Callable[[Path], None], store: EmbeddedStore, path: Path) -> None:
    store.execute(note(1))
    become(path)
    writes = enqueue(store, note(2), note(3))
    with pytest.raises(StoreMoved, match="was moved or deleted"):
        store.execute(note(4))
    assert [type(write.error) for write in writes] == [StoreMoved, StoreMoved]


@pytest.mark.parametrize("become", [removed, moved])
def test_what_was_written_before_can_still_be_read(
    become: Callable[[Path], None], store: EmbeddedStore, path: Path
) -> None:
    store.execute(note(1))
    assert read(store, 1) is not None
    become(path)
    with pytest.raises(StoreMoved):
        store.execute(note(2))
    assert (read(store, 1) is not None, read(store, 2)) == (True, None)


@pytest.mark.parametrize("become", [removed, moved, replaced])
def test_who_asks_after_its_health_learns_it(become: Callable[[Path], None], store: EmbeddedStore, path: Path) -> None:
    store.execute(DescribeTable("notes"))  # opens the file in this thread
    become(path)
    with pytest.raises(StoreMoved):
        store.execute(DescribeTable("notes"))


def test_nothing_is_made_in_its_place(store: EmbeddedStore, path: Path) -> None:
    moved(path)
    with pytest.raises(StoreMoved):
        read(store, 1)  # the first read of this thread, which opens the file
    with pytest.raises(StoreMoved):
        store.verify()
    assert not path.exists()


def test_a_file_that_is_back_is_written_again(store: EmbeddedStore, path: Path) -> None:
    away = path.with_name("away.db")
    path.rename(away)
    with pytest.raises(StoreMoved):
        store.execute(note(1))
    away.rename(path)
    store.execute(note(2))
    assert (read(store, 1), read(store, 2) is not None) == (None, True)


def test_no_message_is_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "queues"
    folder.mkdir()
    with EmbeddedQueue(folder / "queue.db", "q", durable=False) as queue:
        queue.execute(Send("body", "g", "1"))
        shutil.rmtree(folder)
        with pytest.raises(StoreMoved):
            queue.execute(Send("body", "g", "2"))
