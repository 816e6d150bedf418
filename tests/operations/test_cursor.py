"""Cursors: opaque, encrypted, and valid only for the query that they continue."""

from __future__ import annotations

import base64
import hashlib
import hmac
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.sample import (
    Status,
    Task,
    fresh_session,
    steady,
    tasks_due,
    tasks_of,
    tasks_with_status,
    titles_with_status,
)

from partita import Query, Session, Span, f, insert
from partita.errors import InvalidCursor
from partita.operations._cursor import CursorSealer

keys = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.text(max_size=9) | st.binary(max_size=9) | st.integers(-(10**37), 10**37) | st.decimals(-9, 9, places=3),
    min_size=1,
    max_size=4,
)


def text_of(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def bytes_of(cursor: str) -> bytes:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


@steady
@given(keys, st.text(max_size=20))
def test_a_cursor_gives_back_the_key_that_it_was_made_of(key: dict[str, Any], query: str) -> None:
    sealer = CursorSealer(b"secret")
    assert sealer.open(sealer.seal(key, query), query) == key


@steady
@given(keys, st.text(max_size=20), st.text(max_size=20))
def test_a_cursor_is_bound_to_its_query(key: dict[str, Any], query: str, other: str) -> None:
    sealer = CursorSealer(b"secret")
    cursor = sealer.seal(key, query)
    if query != other:
        with pytest.raises(InvalidCursor):
            sealer.open(cursor, other)


@steady
@given(keys, st.integers(0, 10**6), st.integers(1, 255))
def test_a_cursor_with_any_byte_altered_is_refused(key: dict[str, Any], position: int, mask: int) -> None:
    sealer = CursorSealer(b"secret")
    cursor = sealer.seal(key, "q")
    raw = bytearray(bytes_of(cursor))
    raw[position % len(raw)] ^= mask
    with pytest.raises(InvalidCursor):
        sealer.open(text_of(bytes(raw)), "q")


@steady
@given(st.text(max_size=40))
def test_what_is_not_a_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        CursorSealer(b"secret").open(text, "q")


@pytest.mark.parametrize("text", ["\ud800", "é", "=", "AAAA", "A" * 10_000, " ", "a b", ""])
def test_odd_texts_are_refused_as_cursors(text: str) -> None:
    with pytest.raises(InvalidCursor) as caught:
        CursorSealer(b"secret").open(text, "q")
    assert caught.value.hint == "Start again from the first page."


def test_a_cursor_of_an_older_version_is_refused() -> None:
    body = b"\x01" + b"\x81\xa2PK\xa1u"
    raw = hmac.digest(b"secret", b"q\0" + body, hashlib.sha256)[:16] + body  # version 1 was only signed
    with pytest.raises(InvalidCursor, match="outdated"):
        CursorSealer(b"secret").open(text_of(raw), "q")


def test_a_page_has_one_cursor() -> None:
    key = {"PK": "USER#ann", "SK": "TASK#1"}
    assert CursorSealer(b"secret").seal(key, "q") == CursorSealer(b"secret").seal(key, "q")


def test_a_cursor_is_opened_with_its_secret_alone() -> None:
    cursor = CursorSealer(b"secret").seal({"PK": "USER#ann"}, "q")
    with pytest.raises(InvalidCursor, match="does not belong"):
        CursorSealer(b"another secret").open(cursor, "q")


@pytest.mark.parametrize("size", range(20))
def test_a_seal_that_was_cut_off_is_refused(size: int) -> None:
    with pytest.raises(InvalidCursor):
        CursorSealer(b"secret").open(text_of(b"\x02" + bytes(size)), "q")


def test_who_has_no_pages_does_not_wait_for_the_cipher() -> None:
    program = "import sys, partita; print([name for name in sys.modules if name.startswith('cryptography')])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


OTHERS: dict[str, Callable[[], Query[Any]]] = {
    "another pattern": lambda: titles_with_status("u", Status.OPEN),
    "another argument": lambda: tasks_with_status("u", Status.DONE),
    "another user": lambda: tasks_with_status("v", Status.OPEN),
    "another order": lambda: tasks_with_status("u", Status.OPEN).reversed(),
    "a filter": lambda: tasks_with_status("u", Status.OPEN).where(f(Task.points).gt(1)),
    "another index": lambda: tasks_of("u"),
}


def first_cursor(db: Session) -> str:
    for n in range(3):
        db.run(insert(Task(user_id="u", task_id=str(n))))
    cursor = db.run(tasks_with_status("u", Status.OPEN).page(1)).next_cursor
    assert cursor is not None
    return cursor


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_the_cursor_of_another_query_is_refused(db: Session, other: Callable[[], Query[Any]]) -> None:
    cursor = first_cursor(db)
    with pytest.raises(InvalidCursor, match="does not belong to this query"):
        db.run(other().page(1, after=cursor))


def test_the_cursor_of_another_secret_is_refused(db: Session) -> None:
    cursor = first_cursor(db)
    with pytest.raises(InvalidCursor):
        Session(db.store).run(tasks_with_status("u", Status.OPEN).page(1, after=cursor))


def test_a_refused_cursor_reaches_no_store(db: Session) -> None:
    with db.meter.watch() as seen, pytest.raises(InvalidCursor):
        db.run(tasks_of("u").page(1, after="forged"))
    assert [run.requests for run in seen] == [()]


def test_the_page_size_and_consistency_may_change_between_pages(db: Session) -> None:
    tasks = [db.run(insert(Task(user_id="u", task_id=str(n)))) for n in range(4)]
    cursor = db.run(tasks_of("u").page(1)).next_cursor
    assert list(db.run(tasks_of("u").consistent().page(9, after=cursor))) == tasks[1:]


def test_a_cursor_holds_even_the_longest_keys(db: Session) -> None:
    tasks = [db.run(insert(Task(user_id="u" * 2043, task_id=str(n) * 1012))) for n in range(3)]
    query = tasks_with_status("u" * 2043, Status.OPEN)
    cursor = db.run(query.page(1)).next_cursor
    assert list(db.run(query.page(9, after=cursor))) == tasks[1:]


def test_no_part_of_a_key_is_in_a_cursor(db: Session) -> None:
    db.run(insert(Task(user_id="secret-user", task_id="1")))
    db.run(insert(Task(user_id="secret-user", task_id="2")))
    cursor = db.run(tasks_of("secret-user").page(1)).next_cursor
    assert cursor is not None
    shown = cursor.encode() + bytes_of(cursor)
    assert [part for part in (b"secret-user", b"secret", b"user", b"USER#") if part in shown] == []


@steady
@given(st.lists(st.dates(date(2026, 1, 1), date(2026, 1, 2)), min_size=2, max_size=5))
def test_a_cursor_lets_another_session_with_the_same_secret_go_on(dues: list[date]) -> None:
    with fresh_session() as db:
        tasks = [db.run(insert(Task(user_id="u", task_id=str(n), due=due))) for n, due in enumerate(dues)]
        other = Session(db.store, clock=db.context.clock, secret=b"sample")
        page = db.run(tasks_due("u", Span()).page(1))
        rest = other.run(tasks_due("u", Span()).page(9, after=page.next_cursor))
        assert [*page, *rest] == sorted(tasks, key=lambda task: (task.due, task.task_id))


def test_a_cursor_has_one_spelling() -> None:
    sealer = CursorSealer(b"secret")
    for length in range(1, 5):
        cursor = sealer.seal({"PK": "x" * length}, "query")
        others = [cursor[:-1] + last for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
        for other in others:
            if other != cursor:
                with pytest.raises(InvalidCursor):
                    sealer.open(other, "query")
        assert sealer.open(cursor, "query") == {"PK": "x" * length}
