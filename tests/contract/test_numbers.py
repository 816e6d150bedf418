"""Numbers: 38 digits, exact arithmetic, canonical form and equality."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import adding, eq, minus, plus, setting

from partita.errors import ValidationFailed

KEY = {"pk": "a", "sk": "1"}
NINES = int("9" * 38)

CANONICAL: dict[str, tuple[Any, Any]] = {
    "fraction zeros": (Decimal("1.500"), Decimal("1.5")),
    "whole with fraction zeros": (Decimal("5.00"), 5),
    "exponent": (Decimal("1E3"), 1000),
    "negative exponent": (Decimal("15E-1"), Decimal("1.5")),
    "negative zero": (Decimal("-0"), 0),
    "zero with fraction zeros": (Decimal("0.000"), 0),
    "zero with the greatest exponent": (Decimal("0E125"), 0),
    "38 digits and zeros": (int("9" * 38 + "0" * 10), int("9" * 38 + "0" * 10)),
    "greatest": (Decimal("9.9999999999999999999999999999999999999E125"), int("9" * 38 + "0" * 88)),
    "smallest": (Decimal("1E-130"), Decimal("1E-130")),
    "smallest negative": (Decimal("-1E-130"), Decimal("-1E-130")),
    "38 digits of fraction": (Decimal("0." + "1" * 38), Decimal("0." + "1" * 38)),
}


@pytest.mark.rule(2)
@pytest.mark.parametrize(("given", "stored"), CANONICAL.values(), ids=CANONICAL.keys())
def test_a_number_comes_back_in_canonical_form(table: Table, given: Any, stored: Any) -> None:
    table.put({**KEY, "n": given})
    item = table.get("a", "1")
    assert item == {**KEY, "n": stored}
    assert type(item["n"]) is type(stored)


OUT_OF_RANGE: dict[str, Any] = {
    "39 digits": int("1" * 39),
    "39 digits with a point": Decimal("1" * 38 + ".1"),
    "too great": Decimal("1E126"),
    "too small": Decimal("1E-131"),
    "too great a negative": Decimal("-1E126"),
    "zero with too great an exponent": Decimal("0E126"),
    "zero with too small an exponent": Decimal("0E-131"),
    "not a number": Decimal("NaN"),
    "infinity": Decimal("Infinity"),
}


@pytest.mark.rule(1, 3)
@pytest.mark.parametrize("given", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE.keys())
def test_a_number_that_does_not_fit_is_refused(table: Table, given: Any) -> None:
    with pytest.raises(ValidationFailed):
        table.put({**KEY, "n": given})
    with pytest.raises(ValidationFailed):
        table.put({**KEY, "nested": [{"n": given}]})
    with pytest.raises(ValidationFailed):
        table.update(("a", "1"), setting({"n": given}))
    assert table.get("a", "1") is None


@pytest.mark.rule(1)
def test_the_messages_say_what_does_not_fit(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="more than 38 significant digits"):
        table.put({**KEY, "n": int("1" * 39)})
    with pytest.raises(ValidationFailed, match="Number overflow"):
        table.put({**KEY, "n": Decimal("1E126")})
    with pytest.raises(ValidationFailed, match="Number underflow"):
        table.put({**KEY, "n": Decimal("1E-131")})


SUMS: dict[str, tuple[Any, Any, Any]] = {
    "decimal fractions": (Decimal("0.1"), Decimal("0.2"), Decimal("0.3")),
    "to 38 digits": (NINES - 1, 1, NINES),
    "carry to a power of ten": (NINES, 1, 10**38),
    "cancels out": (Decimal("1.5"), Decimal("-1.5"), 0),
    "beyond 64 bits": (2**63, 2**63, 2**64),
    "beyond what a float holds": (9007199254740993, 2, 9007199254740995),
    "small and smaller": (Decimal("1E-130"), Decimal("1E-130"), Decimal("2E-130")),
}


@pytest.mark.rule(1)
@pytest.mark.parametrize(("start", "by", "result"), SUMS.values(), ids=SUMS.keys())
def test_arithmetic_is_exact(table: Table, start: Any, by: Any, result: Any) -> None:
    table.put({**KEY, "n": start, "m": start})
    table.update(("a", "1"), setting({"n": plus("n", by)}))
    table.update(("a", "1"), adding({"m": by}))
    assert table.get("a", "1") == {**KEY, "n": result, "m": result}


@pytest.mark.rule(1)
@pytest.mark.parametrize(
    ("start", "by"),
    [(10**50, 1), (NINES, Decimal("0.1")), (Decimal("9E125"), Decimal("9E125"))],
    ids=["50 digits", "39 digits", "overflow"],
)
def test_arithmetic_that_cannot_be_exact_is_refused(table: Table, start: Any, by: Any) -> None:
    table.put({**KEY, "n": start})
    with pytest.raises(ValidationFailed):
        table.update(("a", "1"), adding({"n": by}))
    with pytest.raises(ValidationFailed):
        table.update(("a", "1"), setting({"n": minus("n", -by)}))
    assert table.get("a", "1") == {**KEY, "n": start}


@pytest.mark.rule(4)
def test_equality_is_at_full_precision(table: Table) -> None:
    table.put({**KEY, "n": NINES})
    table.put({**KEY, "n": NINES}, condition=eq("n", NINES))
    table.put({**KEY, "n": 1}, condition=eq("n", Decimal(NINES)))
    assert table.get("a", "1") == {**KEY, "n": 1}


@pytest.mark.rule(4)
@pytest.mark.parametrize("same", [1, Decimal("1.0"), Decimal("10e-1")], ids=["1", "1.0", "10e-1"])
def test_equal_numbers_are_one_key(make_table: MakeTable, same: Any) -> None:
    table = make_table(hash_type="N", range_type="N")
    table.put({"pk": 1, "sk": 1, "from": "first"})
    table.put({"pk": same, "sk": same, "from": "second"})
    assert table.scan().items == [{"pk": 1, "sk": 1, "from": "second"}]
    assert table.get(same, same) == {"pk": 1, "sk": 1, "from": "second"}


@pytest.mark.rule(4)
def test_neighbouring_large_numbers_are_two_keys(make_table: MakeTable) -> None:
    table = make_table(range_type="N")
    table.put(*({"pk": "p", "sk": NINES - n} for n in range(3)))
    assert [item["sk"] for item in table.query("p").items] == [NINES - 2, NINES - 1, NINES]


@pytest.mark.rule(4)
def test_a_number_set_compares_at_full_precision(table: Table) -> None:
    table.put({**KEY, "s": frozenset({NINES, NINES - 1})})
    table.update(("a", "1"), adding({"s": frozenset({NINES, NINES - 2})}))
    assert table.get("a", "1") == {**KEY, "s": frozenset({NINES, NINES - 1, NINES - 2})}


@pytest.mark.rule(2)
def test_a_number_set_is_canonical(table: Table) -> None:
    table.put({**KEY, "s": frozenset({Decimal("1.50"), Decimal("2.0")})})
    item = table.get("a", "1")
    assert item is not None
    assert sorted(map(str, item["s"])) == ["1.5", "2"]
