"""Which requests are the same under a transaction token, and which are different."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.store.embedded.support import note

from partita.errors import TokenMismatch
from partita.store import TransactWriteItems
from partita.store.embedded import EmbeddedStore

SAME = [(1, Decimal(1)), (Decimal("1e2"), 100), ([1], [Decimal(1)]), (frozenset({1, 2}), frozenset({2, 1}))]
OTHER = [(1, "1"), (Decimal("1.5"), "1.5"), (["a"], frozenset({"a"})), (b"a", "a"), (True, 1)]


def write(store: EmbeddedStore, value: Any) -> bool:
    """Write the value with a token; return whether that was recognised as a repetition of the same request."""
    return store.execute(TransactWriteItems((note(1, value=value),), "token")).replayed


@pytest.mark.rule(38)
@pytest.mark.parametrize(("first", "second"), SAME)
def test_the_same_value_in_another_form_is_the_same_request(store: EmbeddedStore, first: Any, second: Any) -> None:
    assert (write(store, first), write(store, second)) == (False, True)


@pytest.mark.rule(38)
@pytest.mark.parametrize(("first", "second"), OTHER)
def test_what_looks_alike_is_another_request(store: EmbeddedStore, first: Any, second: Any) -> None:
    write(store, first)
    with pytest.raises(TokenMismatch):
        write(store, second)
