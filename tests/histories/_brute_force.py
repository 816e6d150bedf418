"""The same checks by trying every order: slow, but simple; the checkers are compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

from tests.histories._history import History, List, Status, Transaction
from tests.histories._linearizable import Model, Operation


def has_order(operations: Sequence[Operation], model: Model[Any], initial: Any = None) -> bool:
    """Whether some order of the operations, with some of the unknown ones, explains all responses."""
    known = [each for each in operations if each.returned is not None]
    unknown = [each for each in operations if each.returned is None]
    for count in range(len(unknown) + 1):
        for some in combinations(unknown, count):
            if any(_explains(order, model, initial) for order in permutations([*known, *some])):
                return True
    return False


def _explains(order: Sequence[Operation], model: Model[Any], state: Any) -> bool:
    for number, operation in enumerate(order):
        if any(later.returned is not None and later.returned < operation.invoked for later in order[number + 1 :]):
            return False
        fits, state = model(state, operation)
        if not fits:
            return False
    return True


def is_serializable(history: History, *, realtime: bool) -> bool:
    """Whether some order of the transactions, with some of the unknown ones, explains all reads."""
    known = [each for each in history if each.status is Status.OK]
    unknown = [each for each in history if each.status is Status.UNKNOWN]
    for count in range(len(unknown) + 1):
        for some in combinations(unknown, count):
            if any(_is_right(order, realtime=realtime) for order in permutations([*known, *some])):
                return True
    return False


def _is_right(order: Sequence[Transaction], *, realtime: bool) -> bool:
    lists: dict[str, List] = {}
    for number, each in enumerate(order):
        later = order[number + 1 :]
        if realtime and any(other.returned is not None and other.returned < each.invoked for other in later):
            return False
        if any(lists.get(key, ()) != tuple(seen) for key, seen in each.reads.items()):
            return False
        for key, values in each.appends.items():
            lists[key] = lists.get(key, ()) + tuple(values)
    return True
