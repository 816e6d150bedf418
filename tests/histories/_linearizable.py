"""Linearizability of one item: does one order of all operations explain the responses of all clients?

The search is the algorithm of Wing and Gong with Lowe's memoization: an operation may come next if no other remaining
operation had returned before it began. It explores sets of operations, so it is for the history of one item only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

S = TypeVar("S", bound=Hashable)

FOREVER = float("inf")


class Operation(Struct, frozen=True):
    """An operation of one client on one item, and its response."""

    process: str
    invoked: float
    returned: float | None
    """None if no response arrived: the operation may have happened at any time since, or never."""
    kind: str
    value: Any = None
    told: Any = None


Model: TypeAlias = Callable[[S, Operation], tuple[bool, S]]
"""Returns whether an operation may have its response in a state, and the state after it."""


def register(state: Any, operation: Operation) -> tuple[bool, Any]:
    """Model an item with one value; the state is None if it has none.

    | kind | value | told |
    | --- | --- | --- |
    | `read` | | the value that was read |
    | `write` | the new value | |
    | `add` | the amount | the sum, if the client knows it |
    | `replace` | the expected value and the new one | whether the value was replaced |
    """
    unknown = operation.returned is None
    match operation.kind:
        case "read":
            return unknown or operation.told == state, state
        case "write":
            return True, operation.value
        case "add":
            total = (state or 0) + operation.value
            return unknown or operation.told is None or operation.told == total, total
        case "replace":
            expected, new = operation.value
            done = expected == state
            return unknown or operation.told == done, new if done else state
    raise ValueError(f"An operation of kind {operation.kind!r} is not known.")


class _Search(Generic[S]):
    def __init__(self, operations: Sequence[Operation], model: Model[S]) -> None:
        self._operations = sorted(operations, key=lambda each: each.invoked)
        self._model = model
        self._must = sum(1 << n for n, each in enumerate(self._operations) if each.returned is not None)

    def succeeds(self, initial: S) -> bool:
        """Whether some order explains everything: a depth-first search that skips visited states."""
        tried: set[tuple[int, S]] = {(0, initial)}
        stack = [(0, initial)]
        while stack:
            done, state = stack.pop()
            if done & self._must == self._must:
                return True
            for number in self._next(done):
                fits, after = self._model(state, self._operations[number])
                then = (done | 1 << number, after)
                if fits and then not in tried:
                    tried.add(then)
                    stack.append(then)
        return False

    def _next(self, done: int) -> list[int]:
        """Return the operations that may come next: those that began before any of the remaining ones had returned."""
        left = [number for number in range(len(self._operations)) if not done >> number & 1]
        first = min((self._operations[n].returned or FOREVER for n in left), default=FOREVER)
        return [number for number in left if self._operations[number].invoked <= first]


def is_linearizable(operations: Sequence[Operation], model: Model[Any] = register, initial: Any = None) -> bool:
    """Whether the operations on one item, executed one after another in some order, explain its history."""
    return _Search(operations, model).succeeds(initial)
