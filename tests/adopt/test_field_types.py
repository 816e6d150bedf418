"""The type of a field is the narrowest one that writes every value back exactly."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from partita.adopt._field_types import annotation_of, expiry_annotation


@pytest.mark.parametrize(
    ("values", "annotation"),
    [
        (["a", "b"], "str"),
        ([1, 2], "int"),
        ([1, Decimal("2.5")], "Decimal"),
        ([True, False], "bool"),
        ([b"a"], "bytes"),
        ([{"a"}], "frozenset[str]"),
        ([{1}, {2, 3}], "frozenset[int]"),
        ([{1}, {Decimal("2.5")}], "frozenset[Decimal]"),
        ([{b"a"}], "frozenset[bytes]"),
        ([{"a": 1}], "dict[str, Any]"),
        ([["a"], []], "list[str]"),
        ([["2026-01-01"]], "list[str]"),
        ([[{"a": 1}]], "list[dict[str, Any]]"),
        ([["a", 1]], "list[Any]"),
        ([["a", None]], "list[Any]"),
        ([[{"a"}]], "list[Any]"),
        ([[["a"]]], "list[Any]"),
        ([[]], "list[Any]"),
        ([True, 1], "Any"),
        (["a", 1], "Any"),
        (["a", None], "str"),
        ([None], None),
    ],
)
def test_a_type_by_its_values(values: list[Any], annotation: str | None) -> None:
    assert annotation_of(values) == annotation


@pytest.mark.parametrize(
    ("texts", "annotation"),
    [
        (["2026-01-01", "2026-12-31"], "date"),
        (["2026-01-01T08:00:00.250000Z"], "datetime"),
        (["2026-01-01T08:00:00Z"], "str"),
        (["2026-01-01T08:00:00.000Z"], "str"),
        (["2026-01-01T08:00:00.000000+0000"], "str"),
        (["2026-01-01", "soon"], "str"),
        (["2026-1-1"], "str"),
        (["20260101"], "str"),
        (["1700000000"], "str"),
    ],
)
def test_a_date_is_one_only_where_every_text_is_written_back(texts: list[str], annotation: str) -> None:
    assert annotation_of(texts) == annotation


@pytest.mark.parametrize(
    ("values", "annotation"),
    [
        ([1_800_000_000], "datetime"),
        ([1_800_000_000_000], "int"),
        ([-1], "int"),
        ([Decimal("1.5")], None),
        (["1800000000"], None),
        ([True], None),
    ],
)
def test_a_ttl_is_an_instant_or_a_number(values: list[Any], annotation: str | None) -> None:
    assert expiry_annotation(values) == annotation
