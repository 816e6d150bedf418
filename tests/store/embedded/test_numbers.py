"""The order of encoded numbers is the order of the numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ValidationFailed
from partita.store.embedded._numbers import encode_number
from partita.values._attribute_values import number


@st.composite
def numbers(draw: st.DrawFn) -> int | Decimal:
    digits = draw(st.text("0123456789", min_size=1, max_size=38))
    magnitude = draw(st.integers(-130, 125 - len(digits)))
    return number(f"{draw(st.sampled_from(['', '-']))}{digits}e{magnitude}")


close_together = st.integers(-300, 300).map(lambda hundredths: number(Decimal(hundredths) / 100))


@pytest.mark.rule(31)
@given(st.lists(numbers() | close_together, min_size=2))
def test_encodings_sort_as_the_numbers_do(several: list[int | Decimal]) -> None:
    assert sorted(several) == sorted(several, key=encode_number)


@given(numbers() | close_together, numbers() | close_together)
def test_different_numbers_have_different_encodings(one: int | Decimal, other: int | Decimal) -> None:
    assert (one == other) == (encode_number(one) == encode_number(other))


@pytest.mark.rule(4)
@pytest.mark.parametrize("same", [1, Decimal("1.0"), Decimal("10e-1"), Decimal("1.000")])
def test_equal_numbers_have_one_encoding(same: int | Decimal) -> None:
    assert encode_number(1) == encode_number(same)


def test_the_largest_and_smallest_numbers_keep_their_places() -> None:
    ascending = ["-9.9e125", "-1", "-1e-130", "0", "1e-130", "1", "9.9e125"]
    encoded = [encode_number(number(text)) for text in ascending]
    assert sorted(encoded) == encoded


@pytest.mark.rule(1)
def test_a_number_out_of_range_is_refused() -> None:
    with pytest.raises(ValidationFailed):
        encode_number(10**126)
