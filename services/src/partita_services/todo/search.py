"""Searching the words of tasks: tasks with all of them in the title come first; at most a thousand are found.

    in the title       the shortest title first; of the same length, the one that changed last
    in both together   after those, the shortest description first

If more than a thousand tasks have the words, the thousand that changed last are considered, so the number of rows read
has a limit. Prefixes of up to eight letters are in the index; for a longer one SQLite merges the lists of all words
with the prefix, which still grows with the tasks that have them. So does a search for words that are each common, but
rare together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

MAX_FOUND: Final = 1_000
"""The maximum number of tasks that are considered, and found."""
_WORD: Final = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")  # combining accents are part of a word

_ROWS: Final = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
_COUNT: Final = f"SELECT count(*) FROM ({_ROWS})"  # noqa: S608 - our own text
_RANKED: Final = f"""
    SELECT task_id FROM tasks WHERE number IN ({_ROWS}) ORDER BY length({{by}}), number DESC LIMIT ? OFFSET ?
"""  # noqa: S608 - our own text

Read = Callable[[str, Sequence[Any]], list[Any]]
"""Reads rows of the projection."""


class Found(NamedTuple):
    """One page of the results of a search."""

    task_ids: list[str]
    complete: bool
    """Whether all tasks that have the words are found, on this page and the others."""


def search_words(read: Read, owner: str, text: str, limit: int, offset: int) -> Found:
    """A page of the owner's tasks that have all the words, best first; the last word may be a prefix."""
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
    """How many match, up to a maximum."""
    ((count,),) = read(_COUNT, [match, most])
    return int(count)
