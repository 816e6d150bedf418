"""Serializability of transactions over lists, checked as in Elle: reads show which transaction came before which.

Every append adds a unique number, so each read shows the order of all appends that it saw. Three kinds of dependency
follow from the reads, and one from time:

| edge | from | to |
| --- | --- | --- |
| `ww` | the transaction of an append | the transaction of the next append to the same list |
| `wr` | the transaction of the last append that a read saw | the reader |
| `rw` | the reader | the transaction of the first append that the read did not see |
| `rt` | a transaction that had returned | a transaction that began afterwards |

A cycle is an impossible order. The kinds of its edges determine the anomaly (with Adya's names).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct
from tests.histories._history import History, List, Status, Transaction


class Anomaly(StrEnum):
    """A kind of anomaly of a history."""

    GARBAGE = "a read of what nobody wrote"
    ABORTED_READ = "G1a: a read of what a failed transaction wrote"
    INTERMEDIATE_READ = "G1b: a read of a part of what one write appended"
    INCOMPATIBLE_ORDER = "two reads of a list disagree about its order"
    DUPLICATE = "an append that happened twice"
    WRITE_CYCLE = "G0: writes of two transactions in both orders"
    CIRCULAR_INFORMATION = "G1c: two transactions have each seen the other"
    SINGLE_ANTI_DEPENDENCY = "G-single: a transaction has seen a part of another, or a write was lost"
    ANTI_DEPENDENCY_CYCLE = "G2: two transactions have each missed the other"


class Finding(Struct, frozen=True):
    """An anomaly, and the transactions that show it."""

    anomaly: Anomaly
    evidence: str

    def __str__(self) -> str:
        return f"{self.anomaly.value}\n{self.evidence}"


KINDS: Final = ("ww", "wr", "rt", "rw")
"""If one transaction precedes another for several reasons, the first of these kinds is kept."""

Edges: TypeAlias = dict[int, dict[int, str]]
"""From transaction to transaction, with the kind of the edge."""


def find_anomalies(history: History, *, realtime: bool = True) -> list[Finding]:
    """Return the anomalies of a history; none if it is (strictly) serializable.

    Args:
        history: the transactions of all clients. Reads must not have seen failed transactions.
        realtime: whether a transaction that began after another had returned must come after it.
    """
    lists = _Lists(history)
    found = list(lists.findings())
    if found:  # if the order of the lists is unknown, so are the dependencies
        return found
    return list(_cycles(history, _edges(history, lists, realtime=realtime)))


class _Lists:
    """The order in which each list grew, as its longest read shows it."""

    def __init__(self, history: History) -> None:
        self.writers: dict[tuple[str, int], Transaction] = {
            (key, value): each for each in history for key, values in each.appends.items() for value in values
        }
        self.reads = [(each, key, seen) for each in history for key, seen in each.reads.items()]
        self.longest: dict[str, List] = {}
        for _, key, seen in self.reads:
            if len(seen) > len(self.longest.get(key, ())):
                self.longest[key] = seen
        self.unseen: dict[str, list[Transaction]] = defaultdict(list)
        """Transactions whose append certainly happened, but is in no read: they come after all reads."""
        for (key, value), each in self.writers.items():
            if self.happened(each) and value not in self.longest.get(key, ()):
                self.unseen[key].append(each)

    def happened(self, transaction: Transaction) -> bool:
        """Whether a transaction is known to have happened."""
        if transaction.status is not Status.UNKNOWN:
            return transaction.status is Status.OK
        return any(values[0] in self.longest.get(key, ()) for key, values in transaction.appends.items())

    def findings(self) -> Iterator[Finding]:
        """Yield the anomalies that single reads or pairs of reads show."""
        for reader, key, seen in self.reads:
            if len(set(seen)) < len(seen):
                yield Finding(Anomaly.DUPLICATE, str(reader))
            if seen != self.longest.get(key, ())[: len(seen)]:
                evidence = f"{reader}\nbut another read of {key} saw {list(self.longest[key])}"
                yield Finding(Anomaly.INCOMPATIBLE_ORDER, evidence)
            for value in seen:
                writer = self.writers.get((key, value))
                if writer is None:
                    yield Finding(Anomaly.GARBAGE, f"{reader}\nwhere nobody wrote {value}")
                elif writer.status is Status.FAILED:
                    yield Finding(Anomaly.ABORTED_READ, f"{reader}\n{writer}")
            writer = self.writers.get((key, seen[-1])) if seen else None
            if writer is not None and writer.appends[key][-1] != seen[-1]:
                yield Finding(Anomaly.INTERMEDIATE_READ, f"{reader}\n{writer}")

    def next_writers(self, key: str, seen: List) -> list[Transaction]:
        """Return the writers of what a read did not see: the next one, or all whose order is unknown."""
        longest = self.longest.get(key, ())
        return [self.writers[key, longest[len(seen)]]] if len(seen) < len(longest) else self.unseen[key]


class _Edges:
    """The order of transactions, as edges of a graph."""

    def __init__(self) -> None:
        self.found: Edges = defaultdict(dict)

    def add(self, source: Transaction, target: Transaction, kind: str) -> None:
        """Add an edge; if there are several kinds, keep the first of `KINDS`."""
        if source.number != target.number:
            known = self.found[source.number].get(target.number, kind)
            self.found[source.number][target.number] = min(known, kind, key=KINDS.index)


def _edges(history: History, lists: _Lists, *, realtime: bool) -> Edges:
    edges = _Edges()
    for key, order in lists.longest.items():
        for earlier, later in pairwise(order):
            edges.add(lists.writers[key, earlier], lists.writers[key, later], "ww")
        for last in lists.unseen[key]:
            edges.add(lists.writers[key, order[-1]], last, "ww")
    for reader, key, seen in lists.reads:
        if seen:
            edges.add(lists.writers[key, seen[-1]], reader, "wr")
        for writer in lists.next_writers(key, seen) if reader.is_current else ():
            edges.add(reader, writer, "rw")
    if realtime:
        for before, after in _in_time(each for each in history if lists.happened(each) and each.is_current):
            edges.add(before, after, "rt")
    return edges.found


def _in_time(history: Iterable[Transaction]) -> Iterator[tuple[Transaction, Transaction]]:
    """Yield the pairs that are ordered by time, except those that follow from two other pairs."""
    instants: list[tuple[int, bool, Transaction]] = []
    for each in history:
        instants.append((each.invoked, False, each))
        if each.returned is not None:
            instants.append((each.returned, True, each))
    latest: dict[int, Transaction] = {}
    before: dict[int, set[int]] = {}
    for _, is_return, each in sorted(instants, key=lambda instant: (instant[0], instant[1])):
        if is_return:
            latest = {number: earlier for number, earlier in latest.items() if number not in before[each.number]}
            latest[each.number] = each
            continue
        before[each.number] = set(latest)
        for earlier in latest.values():
            yield earlier, each


def _cycles(history: History, edges: Edges) -> Iterator[Finding]:
    """Yield the most severe kind of cycle, with a shortest example."""
    edges = _tangled(edges)
    kinds = (
        (Anomaly.WRITE_CYCLE, {"ww", "rt"}, 0),
        (Anomaly.CIRCULAR_INFORMATION, {"ww", "wr", "rt"}, 0),
        (Anomaly.SINGLE_ANTI_DEPENDENCY, {"ww", "wr", "rt"}, 1),
        (Anomaly.ANTI_DEPENDENCY_CYCLE, {"ww", "wr", "rt", "rw"}, 1),
    )
    for anomaly, allowed, anti_dependencies in kinds:
        cycle = _cycle(edges, allowed, anti_dependencies)
        if cycle is not None:
            lines = [f"{history[n]}\n  {edges[n][following]} ->" for n, following in pairwise(cycle)]
            yield Finding(anomaly, "\n".join([*lines, str(history[cycle[-1]])]))
            return


def _tangled(edges: Edges) -> Edges:
    """Remove transactions without a predecessor repeatedly, and return the other edges: none if there is no cycle."""
    count: Counter[int] = Counter(target for targets in edges.values() for target in targets)
    free = [number for number in edges if not count[number]]
    gone: set[int] = set()
    while free:
        number = free.pop()
        gone.add(number)
        for target in edges.get(number, ()):
            count[target] -= 1
            if not count[target]:
                free.append(target)
    return {number: targets for number, targets in edges.items() if number not in gone}


def _cycle(edges: Edges, allowed: set[str], anti_dependencies: int) -> list[int] | None:
    """Return a shortest cycle of allowed edges; if an anti-dependency is required, one that begins with it."""
    found: list[list[int]] = []
    for source, targets in edges.items():
        for target, kind in targets.items():
            begins = kind == "rw" if anti_dependencies else kind in allowed and kind != "rt"
            if begins and (path := _path(edges, target, source, allowed)) is not None:
                found.append([source, *path])
    return min(found, key=len, default=None)


def _path(edges: Edges, start: int, goal: int, allowed: set[str]) -> list[int] | None:
    came_from = {start: start}
    waiting = deque([start])
    while waiting:
        at = waiting.popleft()
        if at == goal:
            path = [at]
            while path[-1] != start:
                path.append(came_from[path[-1]])
            return path[::-1]
        for following, kind in edges.get(at, {}).items():
            if kind in allowed and following not in came_from:
                came_from[following] = at
                waiting.append(following)
    return None
