"""Continuous backups: a restored table matches the history, and the log costs nothing if it is off."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.store.embedded.support import BY_OWNER, TABLE, Clock, OpenStore, note, read

from bench import points as bench
from partita.errors import InstantOutOfRange, PastRefused, RecoveryDisabled, StoreClosed, TableInUse, ValidationFailed
from partita.expressions import KeyCondition
from partita.store import (
    BatchGetItem,
    CreateIndex,
    CreateTable,
    DeleteItem,
    DeleteTable,
    DescribeRecovery,
    DescribeTable,
    GetItem,
    IndexSchema,
    KeyAttribute,
    ListTables,
    QueryTable,
    RestoreTable,
    ScanTable,
    SearchVectors,
    SetRecovery,
    TransactGetItems,
    VectorIndexSchema,
)
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems
from partita.store.embedded.points import _restore
from partita.store.embedded.upkeep import replace_with_backup
from partita.values import decode_item

HOUR = 3_600.0
DAY = 24 * HOUR


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, path: Path, clock: Clock) -> Any:
    where = ":memory:" if request.param == "memory" else path
    with EmbeddedStore(where, clock=clock, durable=False) as opened:
        opened.execute(CreateTable(replace(TABLE, indexes=(BY_OWNER,))))
        yield opened


def past_note(store: EmbeddedStore, instant: float, number: int = 1) -> dict[str, Any] | None:
    past = store.as_of(instant)
    try:
        return past.execute(GetItem("notes", {"pk": "p", "sk": f"{number:06}"})).item
    finally:
        past.close()


def restored(store: EmbeddedStore, instant: float | None, name: str = "again") -> list[dict[str, Any]]:
    schema = replace(store.execute(DescribeTable("notes")).schema, name=name)
    store.execute(RestoreTable("notes", schema, instant))
    return store.execute(ScanTable(name)).items


@pytest.mark.rule(60)
@pytest.mark.parametrize("seed", range(3))
def test_every_instant_of_a_random_history_is_what_a_replay_says(tmp_path: Path, seed: int) -> None:
    clock = bench.Clock()
    changes: list[bench.Change] = []
    with bench.begun(tmp_path / "points.db", clock, durable=False) as store:
        for _, step in zip(range(1_500), bench.steps(seed, keys=40), strict=False):
            bench.run_step(store, clock, step)
            changes += step.changes
        rng = random.Random(seed)
        instants = [round(rng.uniform(bench.BEGIN, clock.now), 6) for _ in range(12)]
        instants += [rng.choice(changes)[0] for _ in range(6)]
        assert bench.differing(store, changes, instants[::3], clock.now) == []
        assert bench.differing(store, changes, instants, clock.now, restore=False) == []
        log = store.execute(DescribeRecovery("readings", measured=True))
        assert 0 < log.log_bytes <= bench.bound_of(changes, clock.now)
        assert log.records < len(changes)  # the log was compacted
        store.verify()


@pytest.mark.rule(60)
def test_the_log_of_a_killed_process_is_neither_behind_nor_ahead(tmp_path: Path) -> None:
    assert bench.killed_history(tmp_path / "killed.db", 3, acknowledged=60, instants=10) == []


def test_a_table_without_a_log_is_written_with_the_same_statements(store: EmbeddedStore) -> None:
    def statements(write: Callable[[], object]) -> list[str]:
        seen: list[str] = []
        connection = store._writer.connection
        connection.exec_trace = lambda _cursor, sql, _values: not seen.append(sql)  # type: ignore[func-returns-value]
        write()
        connection.exec_trace = None
        return [sql for sql in seen if not sql.startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"))]

    off = statements(lambda: store.execute(note(1)))
    assert not any("points_" in sql or "recovery" in sql for sql in off)
    store.execute(SetRecovery("notes"))
    on = statements(lambda: store.execute(note(2)))
    assert [sql for sql in on if "points_" not in sql] == off
    assert len(on) == len(off) + 1


@pytest.mark.rule(60)
def test_the_window_is_described_as_it_is(store: EmbeddedStore, clock: Clock) -> None:
    assert not store.execute(DescribeRecovery("notes")).enabled
    began = clock.now
    store.execute(SetRecovery("notes", 2))
    clock.now += HOUR
    found = store.execute(DescribeRecovery("notes"))
    assert (found.days, found.earliest, found.latest) == (2, began, clock.now)
    clock.now += 3 * DAY
    assert store.execute(DescribeRecovery("notes")).earliest == clock.now - 2 * DAY
    store.execute(SetRecovery("notes", 35))  # nothing was deleted yet
    assert store.execute(DescribeRecovery("notes")).earliest == began
    with pytest.raises(ValidationFailed, match="between 1 and 35"):
        store.execute(SetRecovery("notes", 36))
    store.execute(SetRecovery("notes", None))
    store.execute(SetRecovery("notes"))
    assert store.execute(DescribeRecovery("notes")).earliest == clock.now


@pytest.mark.rule(60)
def test_what_is_older_than_the_period_is_dropped(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(SetRecovery("notes", 1))
    for number in range(48):
        clock.now += HOUR
        store.execute(note(1, value=number))
    assert store.execute(DescribeRecovery("notes", measured=True)).records == 48
    store.sweep()
    log = store.execute(DescribeRecovery("notes", measured=True))
    assert (log.records, log.earliest) == (25, clock.now - DAY)  # the oldest record is kept for an extra second
    assert (past_note(store, clock.now - DAY) or {})["value"] == 23
    with pytest.raises(InstantOutOfRange) as refused:
        past_note(store, clock.now - DAY - 1)
    assert (refused.value.earliest, refused.value.latest) == (clock.now - DAY, clock.now)


def test_the_earliest_instant_that_is_said_can_be_read(store: EmbeddedStore, clock: Clock) -> None:
    clock.now = float(int(clock.now)) + 0.0004
    store.execute(SetRecovery("notes"))
    clock.now += 1
    with pytest.raises(InstantOutOfRange) as refused:
        past_note(store, clock.now - 10)
    said = str(refused.value.hint).removeprefix("It can be read from ").partition(" ")[0]
    assert past_note(store, datetime.fromisoformat(said).timestamp()) is None


@pytest.mark.rule(60)
def test_changes_of_one_second_are_merged_when_they_are_an_hour_old(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(SetRecovery("notes"))
    began = clock.now
    for tenth in range(1, 31):
        clock.now = began + tenth / 10
        store.execute(note(1, value=tenth))
    store.sweep()
    assert store.execute(DescribeRecovery("notes", measured=True)).records == 30
    assert (past_note(store, began + 1.25) or {})["value"] == 12
    clock.now = began + HOUR + 10
    store.sweep()
    assert store.execute(DescribeRecovery("notes", measured=True)).records == 3
    assert [(past_note(store, began + second) or {}).get("value") for second in range(4)] == [None, 10, 20, 30]
    assert (past_note(store, began + 1.25) or {})["value"] == 10  # exact to the second


def test_a_clock_that_goes_back_does_not_break_the_order(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(SetRecovery("notes"))
    began = clock.now
    clock.now = began + 10
    store.execute(note(1, value="first"))
    clock.now = began + 5
    for value in ("second", "third"):
        store.execute(note(1, value=value))
    clock.now = began + 20
    assert past_note(store, began + 7) is None
    assert (past_note(store, began + 10) or {})["value"] == "third"


@pytest.mark.rule(61)
def test_a_table_is_restored_with_its_indexes_while_the_old_one_stays(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1, owner="ann", rank=1))
    store.execute(SetRecovery("notes"))
    then = clock.now
    clock.now += 10
    store.execute(note(2, owner="ann", rank=2))
    store.execute(DeleteItem("notes", {"pk": "p", "sk": "000001"}))
    assert [item["sk"] for item in restored(store, then)] == ["000001"]
    assert [item["sk"] for item in restored(store, None, "now")] == ["000002"]
    assert store.execute(ScanTable("again", index="by-owner")).count == 1
    assert read(store, 2) is not None
    assert not store.execute(DescribeRecovery("again")).enabled
    with pytest.raises(TableInUse):
        restored(store, then)
    store.verify()


@pytest.mark.rule(61)
def test_what_cannot_be_restored_is_refused(store: EmbeddedStore, clock: Clock) -> None:
    with pytest.raises(RecoveryDisabled, match="notes has no continuous backups"):
        restored(store, clock.now)
    store.execute(SetRecovery("notes"))
    for wrong in (clock.now - 1, clock.now + 1):
        with pytest.raises(InstantOutOfRange):
            restored(store, wrong)
    assert store.execute(ListTables()) == ("notes",)


def test_a_restore_that_fails_leaves_nothing(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(SetRecovery("notes"))
    for number in range(3):
        store.execute(note(number))
    schema = replace(TABLE, name="again")

    def stop(_items: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.history.restore_table(RestoreTable("notes", schema), stop)
    left = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'items_%' AND type = 'table'"
    assert store._writer.connection.execute(left).get == 1
    killed = store.execute(_restore.BeginRestore(schema))
    store.execute(_restore.FillRestored(killed, schema, ()))
    assert store.execute(ListTables()) == ("notes",)
    clock.now += 2 * HOUR
    assert len(restored(store, None)) == 3
    assert store._writer.connection.execute(left).get == 2


def test_a_past_store_reads_in_every_way_and_writes_in_none(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(SetRecovery("notes"))
    store.execute(note(1, owner="ann", rank=1))
    then = clock.now
    clock.now += 1
    store.execute(note(1, owner="bob", rank=1))
    past = store.as_of(then)
    key = {"pk": "p", "sk": "000001"}
    by_owner = past.execute(ScanTable("notes", index="by-owner")).items
    assert [item["owner"] for item in by_owner] == ["ann"]
    assert (past.execute(BatchGetItem((GetItem("notes", key),))).items[0] or {})["owner"] == "ann"
    assert (past.execute(TransactGetItems((GetItem("notes", key),))).items[0] or {})["owner"] == "ann"
    assert past.execute(DescribeTable("notes")).item_count == 1
    for refused in (note(2), DeleteTable("notes"), ListTables()):
        with pytest.raises(PastRefused, match="cannot be executed on a past state"):
            past.execute(refused)
    past.close()
    past.close()


def test_a_restored_file_does_not_claim_a_past_that_it_did_not_have(
    open_store: OpenStore, path: Path, clock: Clock, tmp_path: Path
) -> None:
    store = open_store()
    store.execute(CreateTable(TABLE))
    store.execute(SetRecovery("notes", 5))
    store.execute(note(1))
    store.backup(tmp_path / "copy.db")
    store.close()
    clock.now += 100
    replace_with_backup(tmp_path / "copy.db", path, clock.now)
    found = open_store().execute(DescribeRecovery("notes", measured=True))
    assert (found.enabled, found.days, found.earliest, found.records) == (True, 5, clock.now, 0)


def test_a_bulk_load_is_in_the_log_too(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1, value="old"))
    store.execute(SetRecovery("notes"))
    then = clock.now
    clock.now += 1
    store.execute(LoadItems("notes", [BulkPut(note(number, value="new").item) for number in (1, 2)]))
    assert (past_note(store, then) or {})["value"] == "old"
    assert (past_note(store, then, 2), past_note(store, clock.now, 2)) == (None, note(2, value="new").item)


def test_net_changes_say_what_became_of_each_item(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1, value=1))
    store.execute(note(2, value=1))
    store.execute(SetRecovery("notes"))
    since = clock.now
    clock.now += 1
    store.execute(note(1, value=2))
    store.execute(DeleteItem("notes", {"pk": "p", "sk": "000002"}))
    store.execute(note(3, value=1))
    store.execute(note(4, value=1))
    store.execute(DeleteItem("notes", {"pk": "p", "sk": "000004"}))
    until = clock.now
    clock.now += 1
    store.execute(note(1, value=3))
    store.execute(DeleteItem("notes", {"pk": "p", "sk": "000003"}))
    with store.history.changes("notes", since, until) as changes:
        found = {decode_item(each.image)["sk"]: (each.old is None, each.new is None) for each in changes}
    assert found == {
        "000001": (False, False),
        "000002": (False, True),
        "000003": (True, False),
        "000004": (True, True),
    }


@pytest.mark.rule(61)
def test_a_vector_index_is_restored_and_searched_in_the_past(clock: Clock) -> None:
    pytest.importorskip("numpy")
    by_meaning = VectorIndexSchema("by-meaning", "vector", 2, "EUCLIDEAN")
    with EmbeddedStore(":memory:", clock=clock) as store:
        store.execute(CreateTable(replace(TABLE, vectors=(by_meaning,))))
        store.execute(note(1, vector=[0, 1]))
        store.execute(SetRecovery("notes"))
        then = clock.now
        clock.now += 1
        store.execute(note(1, vector=[9, 9]))
        store.execute(note(2, vector=[0, 2]))
        assert len(restored(store, then)) == 1
        wanted = SearchVectors("again", "by-meaning", (0.0, 1.0), 5)
        assert [score for _, score in store.execute(wanted).matches] == [0.0]
        past = store.as_of(then)
        assert len(past.execute(replace(wanted, table="notes")).matches) == 1
        store.verify()


def test_a_past_state_stays_what_it_was_while_the_table_goes_on(tmp_path: Path) -> None:
    """Read the same past store between the steps of a history: by key, by partition, by index, and as a whole."""
    clock, rng = bench.Clock(), random.Random(11)
    with bench.begun(tmp_path / "points.db", clock, durable=False) as store:
        history = bench.steps(11, keys=40)
        changes = _taken(store, clock, history, 400)
        instant = clock.now
        while (following := next(history)).at == instant:  # writes of the same instant are included
            changes += _taken(store, clock, iter([following]), 1)
        history = chain([following], history)
        then, past = bench.replayed(changes, instant, instant), store.as_of(instant)
        for _ in range(12):
            changes += _taken(store, clock, history, 25)
            assert bench.items_of(past, "readings") == then
            assert past.execute(DescribeTable("readings")).item_count == len(then)
            place = f"place {rng.randrange(7)}"
            expected = sorted((item for key, item in then.items() if key[0] == place), key=lambda it: it["number"])
            assert _pages(past, QueryTable("readings", KeyCondition((("place", place),)), limit=2)) == expected
            backwards = QueryTable("readings", KeyCondition((("place", place),)), limit=2, forward=False)
            assert _pages(past, backwards) == expected[::-1]
            kind = rng.choice("abc")
            found = _pages(past, QueryTable("readings", KeyCondition((("kind", kind),)), index="by_kind", limit=3))
            assert {(item["place"], item["number"]) for item in found} == {
                key for key, item in then.items() if item.get("kind") == kind
            }
            segments = [_pages(past, ScanTable("readings", segment=part, segments=3)) for part in range(3)]
            assert sum(map(len, segments)) == len(then)
        assert bench.differing(store, changes, [instant], clock.now, restore=False) == []
        past.close()
        store.verify()


def _taken(store: EmbeddedStore, clock: bench.Clock, history: Any, steps: int) -> list[bench.Change]:
    changes: list[bench.Change] = []
    for _ in range(steps):
        step = next(history)
        bench.run_step(store, clock, step)
        changes += step.changes
    return changes


def _pages(store: Any, request: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        page = store.execute(request)
        found += page.items
        if page.last_key is None:
            return found
        request = replace(request, start=page.last_key)


def test_a_past_state_is_read_with_the_indexes_that_there_are_now(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(SetRecovery("notes"))
    store.execute(note(1, owner="ann", rank=1, kind="x"))
    then = clock.now
    clock.now += 1
    store.execute(note(1, owner="bob", rank=1, kind="y"))
    past = store.as_of(then)
    assert [item["owner"] for item in past.execute(ScanTable("notes", index="by-owner")).items] == ["ann"]
    store.execute(CreateIndex("notes", IndexSchema("by-kind", (KeyAttribute("kind"),))))
    assert [item["owner"] for item in past.execute(ScanTable("notes", index="by-kind")).items] == ["ann"]
    clock.now += 1
    store.execute(SetRecovery("notes", None))
    with pytest.raises(RecoveryDisabled):
        past.execute(ScanTable("notes"))
    store.execute(SetRecovery("notes"))
    with pytest.raises(InstantOutOfRange):
        past.execute(ScanTable("notes"))
    past.close()


def test_a_log_that_was_emptied_begins_to_count_again(store: EmbeddedStore, clock: Clock) -> None:
    """Records that are older than the period are deleted, and the numbers restart; a past store notices that later."""
    store.execute(SetRecovery("notes", 1))
    store.execute(note(1, rank=1))
    clock.now += HOUR
    past, then = store.as_of(clock.now), clock.now
    assert [item["rank"] for item in past.execute(ScanTable("notes")).items] == [1]
    clock.now += DAY - HOUR / 2
    store.sweep()
    assert store.execute(DescribeRecovery("notes", measured=True)).records == 0
    store.execute(note(1, rank=2))
    assert [item["rank"] for item in past.execute(ScanTable("notes")).items] == [1]
    assert past_note(store, then) == past.execute(GetItem("notes", {"pk": "p", "sk": "000001"})).item
    past.close()


def test_a_past_state_of_a_closed_store_is_closed_too(path: Path, clock: Clock) -> None:
    with EmbeddedStore(path, clock=clock, durable=False) as store:
        store.execute(CreateTable(TABLE))
        store.execute(SetRecovery("notes"))
        past = store.as_of(clock.now)
        past.execute(ScanTable("notes"))
    with pytest.raises(StoreClosed):
        past.execute(ScanTable("notes"))
    past.close()


def test_a_past_state_costs_what_changed_since_and_not_the_table(path: Path, clock: Clock) -> None:
    with EmbeddedStore(path, clock=clock, durable=False) as store:
        store.execute(CreateTable(TABLE))
        store.execute(SetRecovery("notes"))
        store.execute(LoadItems("notes", [BulkPut(note(number, text="x" * 500).item) for number in range(3_000)]))
        then = clock.now
        clock.now += 1
        store.execute(note(7, text="new"))
        past = store.as_of(then)
        assert past.execute(GetItem("notes", {"pk": "p", "sk": "000007"})).item != {}
        (overlay,) = past._overlays.values()
        reader = past._reader
        assert reader is not None
        assert reader.connection.execute(f"SELECT count(*) FROM temp.{overlay._name}").get == 1  # noqa: S608
        plan = reader.connection.execute(f"EXPLAIN QUERY PLAN {overlay.table.sql_get}", (1, "p", "0")).fetchall()
        assert not [line for *_, line in plan if str(line).startswith("SCAN items")]
        past.close()
