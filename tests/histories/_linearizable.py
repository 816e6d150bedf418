"""Linearizability of one item: is there one order of all operations that explains what each client was told?

The search is Wing's and Gong's with Lowe's memory of what was tried: an operation may come next if no other had
returned before it began. It goes through sets of operations, so it is for the history of one item, not for all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

S = TypeVar("S", bound=Hashable)

FOREVER = float("inf")


class Operation(Struct, frozen=True):
    """What one client asked of one item, and what it was told."""

    process: str
    invoked: float
    returned: float | None
    """None where no response came: it may have happened at any time since, or never."""
    kind: str
    value: Any = None
    told: Any = None


Model: TypeAlias = Callable[[S, Operation], tuple[bool, S]]
"""Whether an operation may be told what it was told in a state, and the state after it."""


def register(state: Any, operation: Operation) -> tuple[bool, Any]:
    """An item with one value; None where there is none.

    | kind | value | told |
    | --- | --- | --- |
    | `read` | | what was seen |
    | `write` | what is written | |
    | `add` | how much | the sum, where the client was told |
    | `replace` | what is expected, and what is written in its place | whether it was done |
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
        """Whether some order explains everything; depth first, with what was tried before passed over."""
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
        """Those that may come next: they began before any of those that are left had returned."""
        left = [number for number in range(len(self._operations)) if not done >> number & 1]
        first = min((self._operations[n].returned or FOREVER for n in left), default=FOREVER)
        return [number for number in left if self._operations[number].invoked <= first]


def is_linearizable(operations: Sequence[Operation], model: Model[Any] = register, initial: Any = None) -> bool:
    """Whether the history of one item can be explained by its operations happening one after another."""
    return _Search(operations, model).succeeds(initial)
