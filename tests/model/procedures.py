"""A procedure in a module that imports nothing but its type."""

from __future__ import annotations

from partita import Procedure


def count_twice() -> Procedure[int]:
    """Nothing, twice."""
    return 2
    yield
