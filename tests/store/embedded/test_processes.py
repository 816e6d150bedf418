"""Several processes on one file, and processes that are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, OpenStore, count, note, read

from partita.errors import TableNotFound, ValidationFailed
from partita.expressions._ast import KeyCondition
from partita.store._requests import (
    CreateIndex,
    CreateTable,
    DeleteIndex,
    DeleteTable,
    DescribeTable,
    GetItem,
    ListTables,
    PutItem,
    QueryTable,
    SetStream,
)
from partita.store._schema import KeyAttribute, TableSchema
from partita.store.embedded import EmbeddedStore

CHILD = """
import sys
from partita.expressions._ast import *
from partita.store._requests import *
from partita.store._schema import *
from partita.store.embedded import EmbeddedStore
path, argument = sys.argv[1:]
"""

CREATE_AND_COUNT = """
with EmbeddedStore(path, durable=False) as store:
    store.execute(CreateTable(TableSchema("of-" + argument, KeyAttribute("pk"))))
    add = Update(adds=(AddAction(Path(("n",)), Value(1)),))
    for number in range(200):
        store.execute(PutItem("of-" + argument, {"pk": str(number)}))
        store.execute(UpdateItem("notes", {"pk": "p", "sk": "000001"}, add))
"""

WRITE_UNTIL_KILLED = """
with EmbeddedStore(path) as store:
    for number in range(1_000_000):
        store.execute(PutItem("notes", {"pk": "p", "sk": f"{number:06}", "owner": "o", "rank": number}))
        print(number, flush=True)
"""

ADD_INDEX_UNTIL_KILLED = """
from partita.store.embedded.tables import _chunks
_chunks.MAX_ROWS = 5
index = IndexSchema("by-owner", (KeyAttribute("owner"),), (KeyAttribute("rank", "N"),))
with EmbeddedStore(path) as store:
    store.execute(CreateIndex("notes", index, lambda done, total: print(done, flush=True)))
"""


def start(script: str, path: Path, argument: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD + script, str(path), argument]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_create_tables_and_count_together(store: EmbeddedStore, path: Path) -> None:
    with start(CREATE_AND_COUNT, path, "one") as one, start(CREATE_AND_COUNT, path, "two") as two:
        assert (one.wait(), two.wait()) == (0, 0)
    assert read(store, 1) == {"pk": "p", "sk": "000001", "n": 400}
    assert (count(store, "of-one"), count(store, "of-two")) == (200, 200)
    assert store.execute(ListTables()) == ("notes", "of-one", "of-two")
    store.verify()


def test_what_was_acknowledged_survives_a_kill(path: Path) -> None:
    with EmbeddedStore(path) as store:
        store.execute(CreateTable(TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,), stream="NEW_IMAGE")))
    with start(WRITE_UNTIL_KILLED, path) as child:
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(30)]
        child.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in child.stdout.read().splitlines()]
    with EmbeddedStore(path) as store:
        store.verify()
        assert all(read(store, number) is not None for number in acknowledged)
        owned = store.execute(QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner"))
        assert owned.count in (len(acknowledged), len(acknowledged) + 1)


@pytest.mark.parametrize("reached", [10, 230], ids=["while it is filled", "while entries are added"])
def test_who_adds_an_index_may_be_killed(store: EmbeddedStore, path: Path, reached: int) -> None:
    for number in range(200):
        store.execute(note(number, owner="o", rank=number))
    with start(ADD_INDEX_UNTIL_KILLED, path) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if int(line) >= reached:
                child.send_signal(signal.SIGKILL)
    store.verify()
    store.execute(note(0, owner="o", rank=1_000))
    if "by-owner" not in store.execute(DescribeTable("notes")).schema.index_names:  # it may be finished already
        store.execute(CreateIndex("notes", BY_OWNER))
    owned = store.execute(QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner"))
    assert [item["rank"] for item in owned.items] == [*range(1, 200), 1_000]
    store.verify()


@pytest.fixture
def other(store: EmbeddedStore, open_store: OpenStore) -> EmbeddedStore:
    """A second store on the same file, which does not know what the first one does."""
    other = open_store()
    other.execute(note(1, owner="o", rank=1))
    return other


def test_a_table_made_elsewhere_is_found(store: EmbeddedStore, other: EmbeddedStore) -> None:
    other.execute(CreateTable(TableSchema("more", KeyAttribute("pk"))))
    assert store.execute(GetItem("more", {"pk": "1"})).item is None


def test_a_table_made_elsewhere_is_written_to(store: EmbeddedStore, other: EmbeddedStore) -> None:
    other.execute(CreateTable(TableSchema("more", KeyAttribute("pk"))))
    store.execute(PutItem("more", {"pk": "1"}))
    assert other.execute(GetItem("more", {"pk": "1"})).item == {"pk": "1"}


def test_a_table_deleted_elsewhere_is_gone(store: EmbeddedStore, other: EmbeddedStore) -> None:
    assert read(store, 1) is not None
    other.execute(DeleteTable("notes"))
    with pytest.raises(TableNotFound):
        read(store, 1)
    with pytest.raises(TableNotFound):
        store.execute(note(1))


def test_a_table_made_again_elsewhere_has_its_new_keys(store: EmbeddedStore, other: EmbeddedStore) -> None:
    assert read(store, 1) is not None
    other.execute(DeleteTable("notes"))
    other.execute(CreateTable(TableSchema("notes", KeyAttribute("id", "N"))))
    other.execute(PutItem("notes", {"id": 7}))
    with pytest.raises(ValidationFailed):
        read(store, 1)
    assert store.execute(GetItem("notes", {"id": 7})).item == {"id": 7}


def test_an_index_made_elsewhere_is_used_and_kept_up(store: EmbeddedStore, other: EmbeddedStore) -> None:
    owned = QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner")
    read(store, 1)
    other.execute(CreateIndex("notes", BY_OWNER))
    assert store.execute(owned).count == 1
    store.execute(note(2, owner="o", rank=0))
    assert [item["rank"] for item in other.execute(owned).items] == [0, 1]
    other.execute(DeleteIndex("notes", "by-owner"))
    with pytest.raises(ValidationFailed):
        store.execute(owned)
    store.execute(note(3, owner="o", rank="now of any type"))


def test_a_description_shows_what_was_changed_elsewhere(store: EmbeddedStore, other: EmbeddedStore) -> None:
    store.execute(DescribeTable("notes"))
    other.execute(SetStream("notes", "KEYS_ONLY"))
    assert store.execute(DescribeTable("notes")).schema.stream == "KEYS_ONLY"
