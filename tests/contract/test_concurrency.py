"""Concurrent callers, from threads and from an event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.contract.table import Table
from tests.contract.trees import adding, compare, missing

from partita.errors import ConditionFailed, TransactionCancelled, TransactionConflict
from partita.store._requests import GetItem, PutItem, TransactGetItems, TransactWriteItems, UpdateItem

CALLERS = 8


def at_once(call: Callable[[int], Any], times: int) -> list[Any]:
    """Call the function this number of times, from several threads."""
    with ThreadPoolExecutor(CALLERS) as threads:
        return list(threads.map(call, range(times)))


def test_no_increment_is_lost(table: Table) -> None:
    at_once(lambda _: table.update(("p", "1"), adding({"n": 1})), 200)
    assert table.get("p", "1") == {"pk": "p", "sk": "1", "n": 200}


def test_one_of_many_inserts_wins(table: Table) -> None:
    def insert(caller: int) -> bool:
        try:
            table.put({"pk": "p", "sk": "1", "by": caller}, condition=missing("pk"))
        except ConditionFailed:
            return False
        return True

    won = at_once(insert, 40)
    assert won.count(True) == 1
    assert table.get("p", "1") == {"pk": "p", "sk": "1", "by": won.index(True)}


def transfer(table: Table, source: str, target: str) -> TransactWriteItems:
    """Return a transaction that moves one from an account to another, if the account has any."""
    keys = [{"pk": "p", "sk": sk} for sk in (source, target)]
    return TransactWriteItems(
        (
            UpdateItem(table.name, keys[0], adding({"n": -1}), condition=compare("n", ">", 0)),
            UpdateItem(table.name, keys[1], adding({"n": 1})),
        )
    )


def test_transactions_keep_the_sum_and_reads_see_one_instant(table: Table) -> None:
    table.put({"pk": "p", "sk": "a", "n": 50}, {"pk": "p", "sk": "b", "n": 50})
    both = TransactGetItems(tuple(GetItem(table.name, {"pk": "p", "sk": sk}) for sk in "ab"))

    def move_and_look(caller: int) -> int:
        with contextlib.suppress(TransactionCancelled, TransactionConflict):
            table.store.execute(transfer(table, *("ab" if caller % 2 else "ba")))
        return sum(item["n"] for item in table.store.execute(both).items if item)

    assert set(at_once(move_and_look, 100)) == {100}


def test_readers_see_whole_writes(table: Table) -> None:
    table.put({"pk": "p", "sk": "1", "a": 0, "b": 0})

    def write_or_read(caller: int) -> bool:
        if caller % 2:
            table.put({"pk": "p", "sk": "1", "a": caller, "b": caller})
        item = table.get("p", "1")
        return item is not None and item["a"] == item["b"]

    assert set(at_once(write_or_read, 100)) == {True}


async def test_requests_may_be_awaited(table: Table) -> None:
    item = {"pk": "p", "sk": "1", "n": 1}
    await table.store.execute_async(PutItem(table.name, item))
    assert (await table.store.execute_async(GetItem(table.name, {"pk": "p", "sk": "1"}))).item == item


async def test_errors_are_raised_where_it_is_awaited(table: Table) -> None:
    table.put({"pk": "p", "sk": "1"})
    with pytest.raises(ConditionFailed):
        await table.store.execute_async(PutItem(table.name, {"pk": "p", "sk": "1"}, condition=missing("pk")))


async def test_awaited_writes_are_all_done(table: Table) -> None:
    increment = UpdateItem(table.name, {"pk": "p", "sk": "1"}, adding({"n": 1}))
    await asyncio.gather(*(table.store.execute_async(increment) for _ in range(50)))
    assert table.get("p", "1") == {"pk": "p", "sk": "1", "n": 50}
