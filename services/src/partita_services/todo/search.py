"""Searching the words of tasks: those that have all of them in the title first, and never all of them ranked.

    in the title       the 1,000 that changed last, the shortest title first; then the others, the last changed first
    in both together   the same, by their descriptions

So no more than a thousand are ranked and read. What still grows with the number of tasks that have it is to look a
beginning up: SQLite merges the lists of all words that begin so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

MAX_RANKED: Final = 1_000
"""Of so many that have the words the best come first."""
_WORD: Final = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")  # accents that are written apart belong to it

_HITS: Final = """
    SELECT task_id, tasks.title, tasks.description, tasks.number FROM words JOIN tasks ON tasks.number = words.rowid
    WHERE words MATCH ? AND user_id = ? ORDER BY words.rowid DESC LIMIT ? OFFSET ?
"""
_RANKED: Final = f"SELECT task_id FROM ({_HITS}) ORDER BY length({{by}}), number DESC LIMIT ? OFFSET ?"  # noqa: S608
_LAST: Final = f"SELECT task_id FROM ({_HITS})"  # noqa: S608 - our own text
_COUNT: Final = f"SELECT count(*) FROM ({_HITS})"  # noqa: S608 - our own text

Read = Callable[[str, Sequence[Any]], list[Any]]
"""Reads rows of the projection."""


def search_words(read: Read, user_id: str, owner: str, text: str, limit: int, offset: int) -> list[str]:
    """The identifiers of a user's tasks that have all the words, best first; the last word may be a beginning."""
    words = _WORD.findall(text)
    if not words:
        return []
    wanted = " AND ".join([*(f'"{word}"' for word in words[:-1]), f'"{words[-1]}" *'])
    in_title = f"owner : {owner} AND title : ({wanted})"
    elsewhere = f"(owner : {owner} AND {{title description}} : ({wanted})) NOT title : ({wanted})"
    found = _page(read, in_title, user_id, "title", limit, offset)
    if len(found) == limit:
        return found
    before = offset + len(found) if found else _count(read, in_title, user_id, offset)
    return found + _page(read, elsewhere, user_id, "description", limit - len(found), max(0, offset - before))


def _page(read: Read, match: str, user_id: str, by: str, limit: int, offset: int) -> list[str]:
    """A part of what matches: of the first, the best; behind them, what changed last."""
    found: list[str] = []
    if offset < MAX_RANKED:
        ranked = _RANKED.format(by=by)
        most = min(limit, MAX_RANKED - offset)
        found = [row[0] for row in read(ranked, [match, user_id, MAX_RANKED, 0, most, offset])]
        if len(found) < most:
            return found
    if len(found) < limit:
        found += [row[0] for row in read(_LAST, [match, user_id, limit - len(found), offset + len(found)])]
    return found


def _count(read: Read, match: str, user_id: str, most: int) -> int:
    ((count,),) = read(_COUNT, [match, user_id, most, 0])
    return int(count)
