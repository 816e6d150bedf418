"""Random requests have the same outcome on the embedded store and on an engine that shares no code with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.differential.explained import comparable_capacity, comparable_reasons, explanation, is_change
from tests.differential.plays import TABLES, items, requests
from tests.referee import Referee

from partita.errors import ConditionFailed, RequestError, TableNotFound, TransactionCancelled
from partita.store import _requests as rq
from partita.store._interface import Store
from partita.store.embedded import EmbeddedStore
from partita.values._attribute_values import Item, kind_of

pytestmark = pytest.mark.slow

PARTS = 8
"""The number of tests that share the work."""
PLAYS = 9
"""The number of plays of one part; the first play is always the simplest one."""
SEEDS = 6
STEPS = 80
LEAST_STEPS = 625
"""The minimum number of steps of one part: 5,000 in all parts."""
ITEMS = {"item", "items", "attributes", "last_key"}


class Stage:
    """Both stores with the same empty tables."""

    def __init__(self, referee: Referee) -> None:
        self.embedded = EmbeddedStore(":memory:")
        self.referee = referee
        for table in TABLES:
            with suppress(TableNotFound):
                referee.execute(rq.DeleteTable(table.name))
            self.compare(rq.CreateTable(table))

    def compare(self, request: Any) -> bool:
        """Compare the request on both stores; return False if the emulator's error is known."""
        together = isinstance(request, rq.TransactWriteItems)
        met = list(self.parts(request))
        if any(explanation(action, item, in_transaction=together) for action, item in met):
            return False
        mine, theirs = outcome(self.embedded, request), outcome(self.referee, request)
        idle = met == list(self.parts(request))
        assert seen(request, mine, idle=idle) == seen(request, theirs, idle=idle), request
        return True

    def parts(self, request: Any) -> Iterator[tuple[Any, Any]]:
        """Yield each action of a request with the item that it applies to."""
        for action in request.actions if isinstance(request, rq.TransactWriteItems) else (request,):
            key = getattr(action, "key", None) or getattr(action, "item", None)
            yield action, None if key is None else self.item(action.table, key)

    def item(self, table: str, key: Item) -> Item | None:
        """Return the item that is stored under the key."""
        return self.embedded.execute(rq.GetItem(table, {"pk": key["pk"], "sk": key["sk"]})).item

    def compare_everything(self) -> None:
        """Compare the contents of tables, indexes and streams."""
        for table in TABLES:
            for index in (None, *(index.name for index in table.indexes)):
                self.compare(rq.ScanTable(table.name, index=index))
            theirs = [record for record in records(self.referee, table.name) if is_change(record)]
            assert list(map(change, records(self.embedded, table.name))) == list(map(change, theirs))


def outcome(store: Store, request: Any) -> Any:
    """Return the response, all pages of a query, or the error."""
    try:
        return list(pages(store, request)) if isinstance(request, rq.QueryTable) else store.execute(request)
    except RequestError as error:
        return error


def pages(store: Store, request: rq.QueryTable) -> Iterator[rq.PageResponse]:
    """Yield all pages of a query."""
    while True:
        page = store.execute(request)
        yield page
        if page.last_key is None:
            return
        request = rq.QueryTable(**{**fields(request), "start": page.last_key})


def fields(struct: Any) -> dict[str, Any]:
    """Return the fields of a request or response by name."""
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def seen(request: Any, result: Any, *, idle: bool) -> Any:
    """Return everything that a caller sees of the response, in a form that compares exactly."""
    match result:
        case TransactionCancelled():
            return [(code, exact(item)) for code, item in comparable_reasons(result.reasons)]
        case ConditionFailed():
            return (result.code, result.message, exact(result.item))
        case RequestError():
            return result.code
        case rq.TableDescription():
            return result.schema
        case list():
            return [seen(request, page, idle=idle) for page in result]
    parts = {name: exact(value) if name in ITEMS else value for name, value in fields(result).items()}
    if isinstance(request, rq.ScanTable):
        parts["items"] = sorted(repr(exact(item)) for item in result.items)
    return {**parts, "capacity": comparable_capacity(request, result.capacity, idle=idle)}


def exact(value: Any) -> Any:
    """Return a value with its DynamoDB type at every level, so that True does not equal 1."""
    kind = kind_of(value)
    if kind == "L":
        return (kind, [exact(element) for element in value])
    if kind == "M":
        return (kind, {name: exact(value[name]) for name in sorted(value)})
    return (kind, sorted(value) if kind in {"SS", "NS", "BS"} else value)


def records(store: Store, table: str) -> list[rq.StreamRecord]:
    """Return all records of the table's stream."""
    (shard,) = store.execute(rq.DescribeStream(table)).shards
    return store.execute(rq.ReadStream(table, shard.id)).records


def change(record: rq.StreamRecord) -> Any:
    """Return the event, keys and images of a record, in a form that compares exactly."""
    return (record.event, exact(record.keys), exact(record.old), exact(record.new))


@pytest.mark.xdist_group("referee")
@pytest.mark.timeout(0)  # the number of steps bounds it, and each call of the emulator has a timeout
@pytest.mark.parametrize("part", range(PARTS))
def test_random_steps_have_the_same_outcome(part: int, referee: Referee) -> None:
    steps = 0

    # Nothing is shrunk: a step on the emulator takes milliseconds, and the message has the failing request.
    @seed(part)
    @settings(
        max_examples=PLAYS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.tuples(*(st.lists(items(table), min_size=SEEDS, max_size=SEEDS) for table in TABLES)),
        st.lists(requests, min_size=STEPS, max_size=STEPS),
    )
    def play(seeds: tuple[list[Any], ...], script: list[Any]) -> None:
        nonlocal steps
        stage = Stage(referee)
        puts = [rq.PutItem(table.name, item) for table, seed in zip(TABLES, seeds, strict=True) for item in seed]
        steps += sum(stage.compare(request) for request in (*puts, *script))
        stage.compare_everything()
        stage.embedded.close()

    play()
    assert steps >= LEAST_STEPS
