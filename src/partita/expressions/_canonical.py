"""Expressions as text that is the same in every process, so that it can be signed and used for sorting."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs


def canonical_repr(tree: Any) -> str:
    """Return the `repr` of a condition or value, with sets and maps sorted, so that it is the same in every process."""
    text = repr(tree)
    return repr(_canonical(tree)) if "{" in text else text


def _canonical(part: Any) -> Any:
    if isinstance(part, Struct):
        return (type(part).__name__, *map(_canonical, structs.astuple(part)))
    if isinstance(part, list | tuple):
        return [_canonical(member) for member in part]
    if isinstance(part, set | frozenset):
        return ("set", *sorted(repr(_canonical(member)) for member in part))
    if isinstance(part, dict):
        return ("map", *sorted((name, repr(_canonical(member))) for name, member in part.items()))
    return part
