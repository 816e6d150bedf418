"""The rules of document paths: their maximum depth, and that no two of them overlap or conflict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from partita.expressions._ast import Path, Projection
from partita.expressions._invalid import InvalidExpression
from partita.values import MAX_DEPTH

MAX_LIST_INDEX: Final = 2**31 - 1


def path_text(path: Path) -> str:
    """Return a path as DynamoDB's messages show it: `[a, [0], b]`."""
    return f"[{', '.join(part if isinstance(part, str) else f'[{part}]' for part in path.parts)}]"


def check_path(path: Path) -> None:
    """Reject a path that is empty, too deep, or has an invalid part."""
    parts = path.parts
    if len(parts) == 1 and type(parts[0]) is str and parts[0]:
        return  # nearly every path
    if not path.parts:
        raise InvalidExpression("The document path has no element(s);")
    if not isinstance(path.parts[0], str):
        raise InvalidExpression("The document path does not start with a map element;")
    if len(path.parts) > MAX_DEPTH:
        raise InvalidExpression(f"The document path has too many nesting levels; nesting levels: {len(path.parts)}")
    for part in path.parts:
        if part == "":
            raise InvalidExpression("The document path has an empty attribute name;")
        if isinstance(part, int) and not 0 <= part <= MAX_LIST_INDEX:
            raise InvalidExpression(f"List index is not within the allowable range; index: [{part}]")


def check_projection(projection: Projection) -> None:
    """Reject what DynamoDB rejects."""
    for path in projection:
        check_path(path)
    check_overlaps(projection)


def check_overlaps(paths: Sequence[Path]) -> None:
    """Reject paths of which one contains another, or that treat the same value both as a map and as a list."""
    if len({path.parts[:1] for path in paths}) == len(paths):
        return  # nearly always, no two paths begin with the same part
    # In this order, a path directly precedes the first one that it contains or conflicts with.
    order = [(_order(path), place) for place, path in enumerate(paths)]
    for (_, first), (_, second) in pairwise(sorted(order)):
        _check_pair(paths[min(first, second)], paths[max(first, second)])


def _order(path: Path) -> list[tuple[bool, str | int]]:
    return [(isinstance(part, int), part) for part in path.parts]


def _check_pair(one: Path, two: Path) -> None:
    for left, right in zip(one.parts, two.parts, strict=False):
        if left != right:
            if type(left) is not type(right):
                raise _meeting("conflict", one, two)
            return
    raise _meeting("overlap", one, two)


def _meeting(how: str, one: Path, two: Path) -> InvalidExpression:
    return InvalidExpression(
        f"Two document paths {how} with each other; must remove or rewrite one of these paths; "
        f"path one: {path_text(one)}, path two: {path_text(two)}"
    )
