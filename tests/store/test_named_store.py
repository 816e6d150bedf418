"""A store with different table names: they are replaced in every request, and replaced back in every response."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from tests.store.remote.scripted import ScriptedStore, http_response

from partita import EmbeddedStore, TableNames
from partita.errors import OperationError, TableNotFound
from partita.expressions import Exists, Path, Update
from partita.store import (
    BatchGetItem,
    BatchGetResponse,
    BatchWriteItem,
    BatchWriteResponse,
    Capacity,
    ConditionCheck,
    CreateTable,
    DeleteItem,
    DescribeTable,
    GetItem,
    KeyAttribute,
    ListTables,
    NamedStore,
    PutItem,
    Request,
    SearchVectors,
    SetRecovery,
    Store,
    TableSchema,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
    named_store,
    stored_request,
)
from partita.store._named_store import REQUESTS, RESPONSES

NAMES = TableNames({"users": "people"}, prefix="dev-")
ORDER, USER = {"pk": "order"}, {"pk": "user"}


class Recorder:
    """A store that records the requests, and always returns the same response."""

    def __init__(self, response: Any = None) -> None:
        self.requests: list[Request[Any]] = []
        self.response = response
        self.is_closed = False

    def execute(self, request: Request[Any]) -> Any:
        self.requests.append(request)
        return self.response

    async def execute_async(self, request: Request[Any]) -> Any:
        return self.execute(request)

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def embedded() -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:") as store:
        yield store


def create(store: Store, *names: str) -> None:
    for name in names:
        store.execute(CreateTable(TableSchema(name, KeyAttribute("pk"))))


def test_every_request_and_every_response_is_known() -> None:
    """A new request type must declare where it names its tables."""
    modules = (Request.__module__, SearchVectors.__module__, SetRecovery.__module__)
    requests = {each for each in Request.__subclasses__() if each.__module__ in modules}
    results = {get_args(base)[0] for each in requests for base in each.__orig_bases__}  # type: ignore[attr-defined]
    assert (requests, {each for each in results if each != tuple[str, ...]}) == (set(REQUESTS), set(RESPONSES))


def test_what_is_not_a_request_is_refused_as_by_every_store() -> None:
    with pytest.raises(TypeError, match="str is not a request"):
        NamedStore(Recorder(), NAMES).execute("GetItem")  # type: ignore[arg-type]


def test_each_part_of_a_transaction_is_renamed() -> None:
    put, check = PutItem("orders", ORDER), ConditionCheck("users", USER, Exists(Path(("pk",))))
    change, drop = UpdateItem("users", USER, Update(removes=(Path(("city",)),))), DeleteItem("orders", ORDER)
    sent = stored_request(TransactWriteItems((put, check, change, drop), token="t"), NAMES)
    assert isinstance(sent, TransactWriteItems)
    assert ([part.table for part in sent.actions], sent.token) == (
        ["dev-orders", "people", "people", "dev-orders"],
        "t",
    )


def test_without_names_a_request_stays_as_it_is() -> None:
    request = GetItem("orders", ORDER)
    assert stored_request(request, None) is request


def test_what_a_batch_leaves_comes_back_as_it_was_given() -> None:
    gets = (GetItem("orders", ORDER), GetItem("users", USER))
    left = BatchGetResponse([None, USER], (GetItem("dev-orders", ORDER),), (Capacity("people", 0.5),))
    response = NamedStore(Recorder(left), NAMES).execute(BatchGetItem(gets))
    assert (response.unprocessed, response.capacity) == ((gets[0],), (Capacity("users", 0.5),))


def test_what_a_batch_of_writes_leaves_comes_back_as_it_was_given() -> None:
    writes = (PutItem("orders", ORDER), DeleteItem("users", USER))
    left = BatchWriteResponse((DeleteItem("people", USER),), (Capacity("dev-orders", write=1.0),))
    response = NamedStore(Recorder(left), NAMES).execute(BatchWriteItem(writes))
    assert (response.unprocessed, response.capacity) == ((writes[1],), (Capacity("orders", write=1.0),))


def test_a_description_has_the_declared_name(embedded: EmbeddedStore) -> None:
    store = NamedStore(embedded, NAMES)
    create(store, "users")
    assert store.execute(DescribeTable("users")).schema.name == "users"
    assert embedded.execute(ListTables()) == ("people",)


def test_only_tables_of_these_names_are_listed(embedded: EmbeddedStore) -> None:
    create(embedded, "prod-orders", "people", "dev-zebras", "dev-apples", "dev-users")
    assert NamedStore(embedded, NAMES).execute(ListTables()) == ("apples", "users", "zebras")


def test_an_error_says_the_name_that_the_store_has(embedded: EmbeddedStore) -> None:
    with pytest.raises(TableNotFound, match="dev-orders"):
        NamedStore(embedded, NAMES).execute(GetItem("orders", ORDER))


def test_a_table_without_a_name_reaches_no_store() -> None:
    recorder = Recorder()
    with pytest.raises(OperationError, match="not in the mapping"):
        NamedStore(recorder, TableNames({"users": "people"})).execute(GetItem("orders", ORDER))
    assert recorder.requests == []


def test_two_tenants_of_one_store_never_meet(embedded: EmbeddedStore) -> None:
    first, second = (NamedStore(embedded, TableNames(prefix=f"{name}-")) for name in ("first", "second"))
    for store in (first, second):
        create(store, "orders", "users")
    first.execute(TransactWriteItems((PutItem("orders", ORDER), PutItem("users", USER))))
    first.execute(BatchWriteItem((PutItem("orders", {"pk": "other"}),)))
    assert second.execute(GetItem("orders", ORDER)).item is None
    assert second.execute(TransactGetItems((GetItem("orders", ORDER), GetItem("users", USER)))).items == [None, None]
    assert first.execute(BatchGetItem((GetItem("users", USER),))).items == [USER]
    assert (first.execute(DescribeTable("orders")).item_count, second.execute(DescribeTable("orders")).item_count) == (
        2,
        0,
    )


def test_the_same_is_there_to_await(embedded: EmbeddedStore) -> None:
    store = NamedStore(embedded, NAMES)
    create(store, "orders")
    asyncio.run(store.execute_async(PutItem("orders", ORDER)))
    assert asyncio.run(store.execute_async(GetItem("orders", ORDER))).item == ORDER


def test_calls_over_the_wire_say_the_stored_names() -> None:
    scripted = ScriptedStore(http_response(), http_response({"Responses": {"dev-orders": [], "people": []}}))
    store = NamedStore(scripted.store, NAMES)
    store.execute(PutItem("orders", ORDER))
    store.execute(BatchGetItem((GetItem("orders", ORDER), GetItem("users", USER))))
    put, gets = scripted.transport.bodies
    assert (put["TableName"], list(gets["RequestItems"])) == ("dev-orders", ["dev-orders", "people"])


@pytest.mark.parametrize("names", [None, TableNames(prefix="")])
def test_names_that_change_nothing_cost_nothing(names: TableNames | None) -> None:
    recorder = Recorder()
    assert named_store(recorder, names) is recorder


def test_closing_closes_the_store() -> None:
    recorder = Recorder()
    NamedStore(recorder, NAMES).close()
    assert recorder.is_closed


def test_it_says_what_it_is(embedded: EmbeddedStore) -> None:
    assert repr(NamedStore(embedded, NAMES)) == f"NamedStore({embedded!r}, {NAMES!r})"
