"""The options of `partita dynamodb` that make it behave like AWS."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore
from partita.cli.serving._realism import realistically
from partita.testing import RealisticStore


def test_without_a_switch_the_store_is_served_as_it_is() -> None:
    with EmbeddedStore(":memory:") as store:
        assert realistically({"seed": 1, "stale_seconds": None})(store) is store


def test_a_switch_puts_a_realistic_store_before_it() -> None:
    with EmbeddedStore(":memory:") as store:
        realistic = realistically({"table_units": "5:2", "unprocessed": 0.1, "seed": 7})(store)
        assert isinstance(realistic, RealisticStore)


@pytest.mark.parametrize(("text", "reason"), [("5", "READ:WRITE"), ("a:b", "READ:WRITE"), ("0:5", "greater than 0")])
def test_units_have_two_parts(run: Run, text: str, reason: str) -> None:
    result = run("dynamodb", "--port", "0", "--table-units", text)
    assert (result.exit_code, reason in result.output) == (2, True)
