"""Client request tokens of transactions."""

from __future__ import annotations

import threading

import pytest
from tests.contract.table import Clock, Table
from tests.contract.trees import adding, exists

from partita.errors import TokenInProgress, TokenMismatch, TransactionCancelled, ValidationFailed
from partita.store._requests import TransactWriteItems, TransactWriteResponse, UpdateItem

TOKEN = "11111111-2222-3333-4444-555555555555"


def increment(table: Table, token: str | None, by: int = 1) -> TransactWriteResponse:
    """Add to a counter, in a transaction with a token."""
    action = UpdateItem(table.name, {"pk": "p", "sk": "1"}, adding({"n": by}))
    return table.store.execute(TransactWriteItems((action,), token))


def counter(table: Table) -> int:
    """Return the value of the counter."""
    item = table.get("p", "1")
    return 0 if item is None else int(item["n"])


def unique(table: Table, tail: str = "") -> str:
    """Return a token that no other test uses."""
    return f"{table.name}-{tail}"


@pytest.mark.rule(38)
def test_the_same_token_runs_once(table: Table) -> None:
    first, second = increment(table, unique(table)), increment(table, unique(table))
    assert (first.replayed, second.replayed, counter(table)) == (False, True, 1)


def test_without_a_token_it_runs_each_time(table: Table) -> None:
    increment(table, None)
    increment(table, None)
    assert counter(table) == 2


def test_other_tokens_run_each_on_their_own(table: Table) -> None:
    increment(table, unique(table, "a"))
    increment(table, unique(table, "b"))
    assert counter(table) == 2


@pytest.mark.rule(38)
def test_the_same_token_with_another_request_is_refused(table: Table) -> None:
    increment(table, unique(table))
    with pytest.raises(TokenMismatch):
        increment(table, unique(table), by=2)
    assert counter(table) == 1


def test_a_cancelled_transaction_does_not_use_up_its_token(table: Table) -> None:
    key = {"pk": "p", "sk": "1"}
    action = UpdateItem(table.name, key, adding({"n": 1}), condition=exists("pk"))
    request = TransactWriteItems((action,), unique(table))
    with pytest.raises(TransactionCancelled):
        table.store.execute(request)
    table.put({**key, "n": 1})
    assert not table.store.execute(request).replayed
    assert counter(table) == 2


@pytest.mark.rule(38)
@pytest.mark.parametrize("token", ["", "x" * 37], ids=["empty", "too long"])
def test_a_token_has_1_to_36_characters(table: Table, token: str) -> None:
    with pytest.raises(ValidationFailed):
        increment(table, token)
    assert counter(table) == 0


@pytest.mark.rule(38)
def test_a_token_is_kept_for_ten_minutes(table: Table, clock: Clock) -> None:
    increment(table, TOKEN)
    clock.advance(599)
    assert increment(table, TOKEN).replayed
    clock.advance(601)
    assert not increment(table, TOKEN).replayed
    assert counter(table) == 2


@pytest.mark.rule(38)
def test_two_first_calls_at_once_do_not_both_run(table: Table) -> None:
    replays: list[bool] = []

    def call() -> None:
        try:
            replays.append(increment(table, unique(table)).replayed)
        except TokenInProgress:
            replays.append(True)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (replays.count(False), len(replays), counter(table)) == (1, 8, 1)
