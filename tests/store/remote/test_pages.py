"""Pages of similar items are decoded by their shape, with the same result as by the general decoder."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.remote.scripted import ScriptedStore, http_response
from tests.strategies import items

from partita.errors import StoreUnavailable
from partita.expressions import KeyCondition, Path
from partita.store import Json, QueryTable
from partita.store._dynamodb_json import wire_item
from partita.store.remote._pages import MAX_SHAPES, MIN_BYTES, PageDecoder
from partita.store.remote._shapes import MAX_ATTRIBUTES, Attribute, Shape
from partita.values import Item

QUERY = QueryTable("tasks", KeyCondition((("user", "ada"),)))
FILLING = "x" * MIN_BYTES
TASK: Item = {
    "title": FILLING,
    "priority": 3,
    "done": False,
    "tags": frozenset({"a", "b"}),
    "owner": {"name": "Ada", "age": 36},
}


def body_of(*tagged: Json) -> bytes:
    return msgspec.json.encode({"Count": len(tagged), "ScannedCount": len(tagged), "Items": list(tagged)})


def page_of(*page: Item) -> bytes:
    return body_of(*map(wire_item, page))


def learned(*pages: bytes) -> PageDecoder:
    """Return a decoder that has decoded these pages, the first one twice, because it learns nothing from one page."""
    decoder = PageDecoder()
    for body in (pages[0], *pages):
        decoder.decode(QUERY, body)
    return decoder


def decoded(decoder: PageDecoder, *page: Item) -> list[Item]:
    return decoder.decode(QUERY, page_of(*page))[1]


@settings(max_examples=40)
@given(st.lists(st.lists(items, min_size=1, max_size=3), min_size=1, max_size=3))
def test_every_page_comes_back_as_it_went(pages: list[list[Item]]) -> None:
    decoder = PageDecoder()
    for page in [*pages, *pages]:
        full = [{**item, "filling": FILLING} for item in page]
        for _ in range(2):
            assert decoded(decoder, *full) == full


def test_a_shape_has_the_tag_of_each_attribute_and_the_names_of_maps() -> None:
    owner = Shape((Attribute("name", "S"), Attribute("age", "N")))
    forms = {"title": "S", "priority": "N", "done": "BOOL", "tags": "SS", "owner": owner}
    decoder = learned(page_of(TASK, TASK))
    shape = decoder.shape(QUERY)
    assert shape is not None
    assert {each.name: (each.form, each.always) for each in shape.attributes} == {
        name: (form, True) for name, form in forms.items()
    }
    assert decoded(decoder, TASK) == [TASK]


def test_nothing_is_learned_from_one_page_or_from_small_ones() -> None:
    decoder = PageDecoder()
    decoder.decode(QUERY, page_of(TASK))
    assert decoder.shape(QUERY) is None
    assert learned(page_of({"title": "short"})).shape(QUERY) is None
    assert learned(body_of()).shape(QUERY) is None


def test_sources_have_shapes_of_their_own() -> None:
    decoder = learned(page_of(TASK))
    for other in (
        msgspec.structs.replace(QUERY, index="by_status"),
        msgspec.structs.replace(QUERY, projection=(Path(("title",)),)),
        msgspec.structs.replace(QUERY, table="others"),
    ):
        assert decoder.shape(other) is None


@pytest.mark.parametrize(
    "other",
    [
        {"unknown": "attribute"},
        {"priority": "a text"},
        {"priority": None},
        {"priority": Decimal("1.5")},
        {"priority": -12},
        {"priority": 10**37},
        {"tags": frozenset({1, 2})},
        {"done": [True, {"deep": b"bytes"}]},
        {"owner": {"name": "Ada"}},
        {"owner": {"name": "Ada", "age": "36"}},
        {"owner": {"name": "Ada", "age": 36, "more": 1}},
        {"owner": {}},
    ],
    ids=str,
)
def test_an_item_of_another_shape_is_read_in_full(other: Item) -> None:
    decoder = learned(page_of(TASK))
    changed = {**TASK, **other}
    for _ in range(2):  # first as a page that does not fit, then by the wider shape
        assert decoded(decoder, TASK, changed, TASK) == [TASK, changed, TASK]
        assert decoder.shape(QUERY) is not None
    assert decoded(decoder, {"title": FILLING}) == [{"title": FILLING}]


def test_an_attribute_that_some_items_lack_stays_absent() -> None:
    bare: Item = {"title": FILLING}
    decoder = learned(page_of(TASK, bare))
    assert decoded(decoder, bare, TASK, bare) == [bare, TASK, bare]
    assert decoder.shape(QUERY) is not None


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a'b", "{x}", "ä\n", "__class__", "a b"])
def test_attributes_may_have_any_name(name: str) -> None:
    item: Item = {name: "x", "map": {name: 1}, "filling": FILLING}
    assert decoded(learned(page_of(item)), item) == [item]


def test_items_that_differ_too_often_are_read_in_general() -> None:
    pages = [{"filling": FILLING, f"name{number}": number} for number in range(MAX_SHAPES + 2)]
    decoder = learned(*map(page_of, pages))
    assert decoder.shape(QUERY) is None
    assert decoded(decoder, *pages) == pages


def test_items_with_many_attributes_are_read_in_general() -> None:
    wide: Item = {f"name{number}": FILLING[:100] for number in range(MAX_ATTRIBUTES + 1)}
    decoder = learned(page_of(wide))
    assert decoder.shape(QUERY) is None
    assert decoded(decoder, wide) == [wide]


@pytest.mark.parametrize(
    "tagged",
    [
        *({}, {"X": "1"}, {"S": 1}, {"N": None}, {"SS": []}, {"M": {"name": {"S": "Ada"}, "age": {"Y": "36"}}}),
        *({"N": "1E400"}, {"N": "NaN"}, {"N": ""}, {"N": "1_0"}, {"N": "9" * 39}, {"NS": ["x"]}, {"L": [{"N": "-"}]}),
    ],
    ids=str,
)
def test_what_is_not_an_attribute_value_is_refused_as_ever(tagged: Json) -> None:
    good = http_response(page_of(TASK))
    for name in ("title", "owner", "unknown"):
        item = {"filling": {"S": FILLING}, **wire_item(TASK), name: tagged}
        store = ScriptedStore(good, good, good, http_response(body_of(item))).store
        for _ in range(3):
            assert store.execute(QUERY).items == [TASK]
        with pytest.raises(StoreUnavailable, match="cannot be read"):
            store.execute(QUERY)


def tagged_values() -> st.SearchStrategy[str]:
    """JSON of attribute values, some of them invalid."""
    return st.sampled_from(
        [
            *('{"S":"a"}', '{"N":"1"}', '{"BOOL":true}', '{"SS":["a"]}', '{"M":{"x":{"S":"y"}}}', '{"L":[{"S":"q"}]}'),
            *('{"NULL":true}', '{"B":"AAE="}', '{"NS":["1"]}', '{"BS":["AA=="]}', '{"N":"1E400"}', '{"N":"-0"}'),
            *('{"N":"007"}', '{"N":"²"}', '{"N":"+1"}', '{"N":"1.50"}', '{"N":1}', '{"S":"a","N":"1"}', "{}", "null"),
            *('{"S":"a","S":"b"}', '{"S":"a","X":1}', '{"SS":[]}', '{"M":{}}', '{"S":"\\ud800"}', '{"BOOL":1}', "["),
            *('{"B":"!"}', '{"M":{"x":{"S":"y"},"x":{"N":"2"}}}', '{"S\udcda":"a"}', '{"S":"\udcff"}', '{"s":"a"}'),
        ]
    )


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "a0", "S", "é"]), tagged_values()), max_size=5),
    st.sampled_from(["", ',"Items":[]', ',"Extra":1', ',"Count":"1"', "}"]),
)
def test_whatever_a_server_sends_is_read_as_in_general_or_refused_as_there(
    attributes: list[tuple[str, str]], more: str
) -> None:
    """This includes duplicate names, invalid UTF-8, and invalid JSON."""
    inner = ",".join(f'"{name}":{value}' for name, value in [("filling", f'{{"S":"{FILLING}"}}'), *attributes])
    body = f'{{"Count":1,"ScannedCount":1,"Items":[{{{inner}}}]{more}}}'.encode(errors="surrogateescape")
    usual = {"filling": FILLING, "a": "text", "b": 1}
    assert outcome(learned(page_of(usual)), body) == outcome(PageDecoder(), body)
    assert outcome(learned(page_of(usual, {**usual, "a0": True, "b": "text"})), body) == outcome(PageDecoder(), body)


def outcome(decoder: PageDecoder, body: bytes) -> object:
    """Return the items of a page with the types of their values; None if the page is refused."""
    try:
        return [sorted((name, repr(value)) for name, value in item.items()) for item in decoder.decode(QUERY, body)[1]]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def test_count_capacity_and_last_key_come_with_the_items() -> None:
    page: dict[str, Any] = {
        "Count": 1,
        "ScannedCount": 5,
        "Items": [wire_item(TASK)],
        "LastEvaluatedKey": {"user": {"S": "ada"}},
        "ConsumedCapacity": {"TableName": "tasks", "CapacityUnits": 2.5},
    }
    store = ScriptedStore(*[http_response(page)] * 3).store
    responses = [store.execute(QUERY) for _ in range(3)]
    assert responses[0] == responses[1] == responses[2]
    last = responses[2]
    assert (last.count, last.scanned, last.last_key, last.capacity.read) == (1, 5, {"user": "ada"}, 2.5)
