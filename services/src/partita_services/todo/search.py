"""Searching the words of tasks: those that have all of them in the title first, and never more than a thousand.

    in the title       the shortest title first, of equals the one that changed last
    in both together   behind them, by their descriptions

Of more than a thousand that have the words, the thousand that changed last are looked at: so many rows are read,
however many there are. A beginning of up to eight letters is in the index as it is; for a longer one SQLite merges the
lists of all words that begin so, and that still grows with the tasks that have them. So does looking for words that
are common each, and rare together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

MAX_FOUND: Final = 1_000
"""So many are looked at, and found."""
_WORD: Final = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")  # accents that are written apart belong to it

_ROWS: Final = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
_COUNT: Final = f"SELECT count(*) FROM ({_ROWS})"  # noqa: S608 - our own text
_RANKED: Final = f"""
    SELECT task_id FROM tasks WHERE number IN ({_ROWS}) ORDER BY length({{by}}), number DESC LIMIT ? OFFSET ?
"""  # noqa: S608 - our own text

Read = Callable[[str, Sequence[Any]], list[Any]]
"""Reads rows of the projection."""


class Found(NamedTuple):
    """One page of what a search found."""

    task_ids: list[str]
    complete: bool
    """Whether all that have the words are found, on this page and the others."""


def search_words(read: Read, owner: str, text: str, limit: int, offset: int) -> Found:
    """A page of the owner's tasks that have all the words, best first; the last word may be a beginning."""
    words = _WORD.findall(text)
    if not words:
        return Found([], complete=True)
    wanted = " AND ".join([*(f'"{word}"' for word in words[:-1]), f'"{words[-1]}" *'])
    in_title = f"owner : {owner} AND title : ({wanted})"
    elsewhere = f"(owner : {owner} AND {{title description}} : ({wanted})) NOT title : ({wanted})"
    titles = _count(read, in_title, MAX_FOUND + 1)
    left = MAX_FOUND - titles
    others = 0 if left < 0 else _count(read, elsewhere, left + 1)
    found = _page(read, in_title, "title", MAX_FOUND, limit, offset) if offset < titles else []
    if others and left and len(found) < limit:
        behind = max(0, offset - titles)
        found += _page(read, elsewhere, "description", left, limit - len(found), behind)
    return Found(found, complete=titles + others <= MAX_FOUND)


def _page(read: Read, match: str, by: str, most: int, limit: int, offset: int) -> list[str]:
    return [row[0] for row in read(_RANKED.format(by=by), [match, most, limit, offset])]


def _count(read: Read, match: str, most: int) -> int:
    """How many match, up to so many."""
    ((count,),) = read(_COUNT, [match, most])
    return int(count)
