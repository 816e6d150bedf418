"""Running a procedure again after a conflict with another writer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from partita.errors import OperationError, PartitaError, TransactionCancelled, VersionConflict
from partita.operations._operation import Procedure

R = TypeVar("R")


def is_conflict(error: PartitaError) -> bool:
    """Whether a write was refused because another writer came first: a version moved, or a condition failed."""
    return isinstance(error, VersionConflict) or (isinstance(error, TransactionCancelled) and error.cause is not None)


def retry_on_conflict(
    procedure: Callable[[], Procedure[R]],
    *,
    tries: int = 20,
    when: Callable[[PartitaError], bool] = is_conflict,
) -> Procedure[R]:
    """Run a procedure, and run it again from its start as long as it loses against another writer.

    Args:
        procedure: creates the procedure for each try, which reads its data again.
        tries: how often it runs at most.
        when: returns whether to try again after an error.

    Raises:
        PartitaError: the error of the last try.
        OperationError: a procedure was passed, which can run only once.
    """
    if not callable(procedure):
        hint = "Pass a function that creates it: retry_on_conflict(lambda: pay(bill))."
        raise OperationError(f"{type(procedure).__name__} cannot be run again.", hint=hint)
    for _ in range(tries - 1):
        try:
            return (yield from procedure())
        except PartitaError as error:
            if not when(error):
                raise
    return (yield from procedure())
