"""Items that are encoded and decoded again are equal to the originals, in canonical form."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from tests.strategies import items

from partita.errors import ValidationFailed
from partita.values._attribute_values import Item, equal
from partita.values._codec import decode_item, encode_item, encode_measured


@given(items)
def test_an_item_comes_back_as_it_was(item: Item) -> None:
    assert equal(item, decode_item(encode_item(item)))


def test_numbers_become_canonical_wherever_they_are() -> None:
    item = {"n": Decimal("1.50"), "l": [Decimal("10e-1"), {"m": Decimal("-0.0")}], "s": {Decimal("2.0"), 3}}
    assert repr({"n": Decimal("1.5"), "l": [1, {"m": 0}]}) == repr(
        {name: value for name, value in decode_item(encode_item(item)).items() if name != "s"}
    )
    assert {int} == {type(member) for member in decode_item(encode_item(item))["s"]}


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**63) - 1, 10**125, Decimal("1e-130"), 10**38 - 1])
def test_numbers_beyond_64_bits_are_exact(value: int | Decimal) -> None:
    assert {"n": value} == decode_item(encode_item({"n": value}))


def test_equal_sets_have_equal_bytes() -> None:
    one, other = {"s": {"b", "a", "c"}}, {"s": frozenset(("c", "b", "a"))}
    assert encode_item(one) == encode_item(other)


def test_a_decoded_item_shares_nothing_with_another() -> None:
    blob = encode_item({"l": [1]})
    decode_item(blob)["l"].append(2)
    assert decode_item(blob) == {"l": [1]}


@pytest.mark.parametrize("item", [{"": 1}, {"m": {"": 1}}, {"l": [{"": 1}]}])
def test_an_empty_attribute_name_is_refused(item: Item) -> None:
    with pytest.raises(ValidationFailed, match="Empty attribute name"):
        encode_item(item)


@pytest.mark.parametrize(
    "item", [{"t": "\ud800"}, {"\ud800": "t"}, {"l": ["\ud800"]}, {"m": {"\ud800": 1}}, {"s": {"\ud800"}}], ids=ascii
)
def test_a_lone_surrogate_is_refused(item: Item) -> None:
    with pytest.raises(ValidationFailed, match="lone surrogate"):
        encode_measured(item)
