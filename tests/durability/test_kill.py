"""An acknowledged write survives `kill -9`, and a transaction is never half stored."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from bench._script import CREDIT, TABLE, State, Step, sealing, steps
from bench.kill import Lost, check_entries, check_total, stored_state

from partita import EmbeddedStore
from partita.encryption import LocalKeys
from partita.expressions._ast import KeyCondition
from partita.store._requests import CreateTable, DeleteItem, PutItem, QueryTable, TransactWriteItems
from partita.values import Item, is_sealed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
KEYS = LocalKeys({"1": bytes(32)}, "1")


def test_nothing_acknowledged_is_lost_in_100_kills() -> None:
    command = [sys.executable, "-m", "bench.kill", "--rounds", "100", "--writes", "60", "--seed", "1"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "100 rounds" in ended.stdout


# The following tests show that the test above can fail.


def script() -> Iterator[Step]:
    return steps("writer", {}, random.Random(1))


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    """A store in which one writer executed 200 steps."""
    with EmbeddedStore(":memory:") as store:
        store.execute(CreateTable(TABLE))
        seal = sealing(KEYS)
        for step in islice(script(), 200):
            store.execute(seal(step))
        yield store


def test_what_was_acknowledged_is_what_is_stored(store: EmbeddedStore) -> None:
    expected: State = {}
    for step in islice(script(), 200):
        expected = step.applied_to(expected)
    assert stored_state(store, "writer", {}, script(), 200) == (expected, False)


def test_one_step_more_may_have_been_in_flight(store: EmbeddedStore) -> None:
    assert stored_state(store, "writer", {}, script(), 199)[1] is True


def test_two_steps_more_are_one_too_many(store: EmbeddedStore) -> None:
    with pytest.raises(Lost):
        stored_state(store, "writer", {}, script(), 198)


def test_a_lost_step_is_noticed(store: EmbeddedStore) -> None:
    with pytest.raises(Lost):
        stored_state(store, "writer", {}, script(), 201)


def test_a_lost_item_is_noticed(store: EmbeddedStore) -> None:
    store.execute(DeleteItem(TABLE.name, {"writer": "writer", "sk": CREDIT}))
    with pytest.raises(Lost, match=CREDIT):
        stored_state(store, "writer", {}, script(), 200)


def test_an_index_entry_that_should_not_be_there_is_noticed(store: EmbeddedStore) -> None:
    check_entries(store, "writer", KEYS)
    closed = next(item for item in items_of(store) if item.get("is_open") is False)
    forged = {**closed, "openedPK": "OPEN#writer#0", "openedSK": "x"}
    store.execute(PutItem(TABLE.name, forged))
    with pytest.raises(Lost, match="do not match its fields"):
        check_entries(store, "writer", KEYS)


def test_an_index_entry_that_is_missing_is_noticed(store: EmbeddedStore) -> None:
    opened = next(item for item in items_of(store) if item.get("is_open") is True)
    store.execute(PutItem(TABLE.name, {name: value for name, value in opened.items() if name != "openedPK"}))
    with pytest.raises(Lost, match="do not match its fields"):
        check_entries(store, "writer", KEYS)


def test_a_secret_that_does_not_open_is_noticed(store: EmbeddedStore) -> None:
    one, another = [item for item in items_of(store) if "secret" in item][:2]
    store.execute(PutItem(TABLE.name, {**one, "secret": another["secret"]}))
    with pytest.raises(Lost, match="cannot be decrypted"):
        check_entries(store, "writer", KEYS)


def test_secrets_of_a_key_that_is_gone_are_noticed(store: EmbeddedStore) -> None:
    with pytest.raises(Lost, match="cannot be decrypted"):
        check_entries(store, "writer", LocalKeys({"2": bytes(32)}, "2"))


def test_a_secret_from_another_write_is_noticed(store: EmbeddedStore) -> None:
    item = next(item for item in items_of(store) if "secret" in item)
    store.execute(PutItem(TABLE.name, {**item, "sealed_with": item["sealed_with"] + 1}))
    with pytest.raises(Lost, match="not written together with the item"):
        check_entries(store, "writer", KEYS)


def test_no_secret_can_be_read_in_the_store(store: EmbeddedStore) -> None:
    with_secrets = [item for item in items_of(store) if "secret" in item]
    assert with_secrets
    assert all(is_sealed(item["secret"]) and item["slot"].encode() not in item["secret"] for item in with_secrets)


def items_of(store: EmbeddedStore) -> list[Item]:
    return store.execute(QueryTable(TABLE.name, KeyCondition((("writer", "writer"),)))).items


def test_half_a_transaction_is_noticed(store: EmbeddedStore) -> None:
    state, _ = stored_state(store, "writer", {}, script(), 200)
    check_total(store, {"writer": state})
    credit = next(step for step in script() if CREDIT in step.leaves)
    assert isinstance(credit.request, TransactWriteItems)
    store.execute(credit.request.actions[1])  # type: ignore[arg-type]  # an update
    with pytest.raises(Lost, match="total"):
        check_total(store, {"writer": state})
