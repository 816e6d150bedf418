"""Running a procedure again after a conflict with another writer."""

from __future__ import annotations

from typing import Any

import pytest

from partita import Procedure, retry_on_conflict
from partita.errors import AlreadyExists, OperationError, PartitaError, Reason, TransactionCancelled, VersionConflict
from partita.runtime import run


def meeting(*errors: PartitaError, ran: list[int]) -> Any:
    """Return a procedure that raises one of the errors in each run, and then succeeds."""
    waiting = list(errors)

    def procedure() -> Procedure[str]:
        ran.append(len(ran) + 1)
        if waiting:
            raise waiting.pop(0)
        return "done"
        yield  # makes it a generator

    return procedure


def outcome(procedure: Procedure[str]) -> str:
    return run(procedure, lambda operation: operation)


def test_a_procedure_runs_again_after_a_conflict() -> None:
    ran: list[int] = []
    assert outcome(retry_on_conflict(meeting(VersionConflict("a"), VersionConflict("b"), ran=ran))) == "done"
    assert ran == [1, 2, 3]


def test_a_procedure_that_can_run_only_once_is_refused() -> None:
    once: Any = meeting(ran=[])()
    with pytest.raises(OperationError, match=r"generator cannot be run again\. Pass a function"):
        outcome(retry_on_conflict(once))


def test_the_last_try_raises_its_own_conflict() -> None:
    ran: list[int] = []
    conflicts = [VersionConflict(text) for text in "abc"]
    with pytest.raises(VersionConflict, match="c"):
        outcome(retry_on_conflict(meeting(*conflicts, ran=ran), tries=3))
    assert ran == [1, 2, 3]


def test_another_error_is_raised_at_once() -> None:
    ran: list[int] = []
    with pytest.raises(AlreadyExists):
        outcome(retry_on_conflict(meeting(AlreadyExists("a"), ran=ran)))
    assert ran == [1]


def test_the_caller_may_say_what_a_conflict_is() -> None:
    ran: list[int] = []
    procedure = meeting(AlreadyExists("a"), ran=ran)
    assert outcome(retry_on_conflict(procedure, when=lambda error: isinstance(error, AlreadyExists))) == "done"
    assert ran == [1, 2]


def test_a_cancelled_transaction_is_a_conflict_where_a_condition_failed() -> None:
    reason = Reason("ConditionalCheckFailed")
    reason.error = VersionConflict("v")
    failed, busy = TransactionCancelled([reason]), TransactionCancelled([Reason("TransactionConflict")])
    ran: list[int] = []
    assert outcome(retry_on_conflict(meeting(failed, ran=ran))) == "done"
    with pytest.raises(TransactionCancelled):
        outcome(retry_on_conflict(meeting(busy, ran=[])))
