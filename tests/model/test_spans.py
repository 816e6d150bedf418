"""Spans and prefixes of key fields find exactly the items that a filter over all items finds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.model.sample import Task, fresh_session, steady, tasks_due, tasks_like, tasks_worth

from partita import EmbeddedStore, Entity, Key, Prefix, Query, Registry, Session, Span, Table, insert, put, query
from partita.errors import InvalidKey
from partita.model import escape

days = st.dates(date(2026, 1, 1), date(2026, 1, 9))
texts = st.text(alphabet="ab !#%~\0\u00e9\uffff\U0010fffe", min_size=1, max_size=3)


def spans(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Span[Any]]:
    between = st.tuples(values, values).map(lambda ends: Span.between(min(ends), max(ends)))
    return between | values.flatmap(
        lambda value: st.sampled_from([Span.since(value), Span.until(value), Span.after(value), Span.before(value)])
    )


def inside(span: Span[Any]) -> Callable[[Any], bool]:
    def test(value: Any) -> bool:
        above = span.low is None or value > span.low or (span.include_low and value == span.low)
        return above and (span.high is None or value < span.high or (span.include_high and value == span.high))

    return test


@steady
@given(st.lists(days, max_size=8), spans(days))
def test_a_span_of_days_finds_what_a_filter_would(dues: list[date], span: Span[date]) -> None:
    with fresh_session() as db:
        tasks = [db.run(insert(Task(user_id="u", task_id=str(n), due=due))) for n, due in enumerate(dues)]
        db.run(insert(Task(user_id="u", task_id="never due")))
        db.run(insert(Task(user_id="v", task_id="of another", due=date(2026, 1, 5))))
        expected = sorted((t for t in tasks if inside(span)(t.due)), key=lambda t: (t.due, t.task_id))
        assert list(db.run(tasks_due("u", span))) == expected


@steady
@given(st.lists(st.integers(-20, 20), max_size=8), spans(st.integers(-20, 20)))
def test_a_span_at_the_end_of_a_key_finds_what_a_filter_would(points: list[int], span: Span[int]) -> None:
    with fresh_session() as db:
        tasks = [db.run(insert(Task(user_id="u", task_id=str(n), points=worth))) for n, worth in enumerate(points)]
        expected = sorted((t for t in tasks if inside(span)(t.points)), key=lambda t: (t.points, t.task_id))
        assert sorted(db.run(tasks_worth("u", span)), key=lambda t: (t.points, t.task_id)) == expected


WORDS = Table("words", registry=Registry())


class Word(Entity, table=WORDS):
    primary: ClassVar = Key("WORDS", "{word}")
    word: str


class Phrase(Entity, table=Table("phrases", registry=Registry())):
    primary: ClassVar = Key("PHRASES", "P#{text}")
    text: str


class Line(Entity, table=Table("lines", registry=Registry())):
    primary: ClassVar = Key("LINES", "L#{text}#{number:02}")
    text: str
    number: int = 0


@query(Word, Word.primary)
def words_in(word: Span[str]) -> None: ...


@query(Phrase, Phrase.primary)
def phrases_in(text: Span[str]) -> None: ...


@query(Line, Line.primary)
def lines_in(text: Span[str]) -> None: ...


@query(Word, Word.primary)
def words_like(word: Prefix[str]) -> None: ...


@query(Phrase, Phrase.primary)
def phrases_like(text: Prefix[str]) -> None: ...


def found(entities: list[Any], operation: Query[Any]) -> list[str]:
    with EmbeddedStore(":memory:") as store:
        db = Session(store)
        db.create_tables([WORDS, Phrase.__entity__.table, Line.__entity__.table])
        for entity in entities:
            db.run(put(entity))
        return [getattr(entity, "word", None) or entity.text for entity in db.run(operation)]


@steady
@given(st.sets(texts, max_size=6), spans(texts))
@example({"a", "ab", "a#"}, Span.before("ab"))
def test_a_span_of_bare_texts_finds_what_a_filter_would(words: set[str], span: Span[str]) -> None:
    expected = sorted((word for word in words if inside(span)(word)), key=str.encode)
    assert found([Word(word=word) for word in words], words_in(span)) == expected


@steady
@given(st.sets(texts, max_size=6), spans(texts))
@example({"a", "b"}, Span.before("b"))
@example({"a\0", "a"}, Span.after("a"))
def test_a_span_of_texts_at_the_end_of_a_key_finds_what_a_filter_would(words: set[str], span: Span[str]) -> None:
    # In a key, texts are ordered by their escaped form.
    low, high = (None if end is None else escape(end) for end in (span.low, span.high))
    in_key = Span(low, high, span.include_low, span.include_high)
    if in_key.low is not None and in_key.high is not None and in_key.low > in_key.high:
        return
    expected = sorted((word for word in words if inside(in_key)(escape(word))), key=lambda w: escape(w).encode())
    assert found([Phrase(text=word) for word in words], phrases_in(span)) == expected


@steady
@given(
    st.sets(st.text(alphabet="ab", min_size=1, max_size=4), max_size=6), spans(st.text("ab", min_size=1, max_size=3))
)
def test_a_span_inside_a_key_never_reaches_past_its_placeholder(words: set[str], span: Span[str]) -> None:
    expected = sorted(word for word in words if inside(span)(word))
    assert found([Line(text=word) for word in words], lines_in(span)) == expected


@steady
@given(st.sets(texts, max_size=6), spans(texts))
@example({"a", "a b", "a!", "b"}, Span.between("a", "a"))
def test_a_span_inside_a_key_keeps_the_order_of_its_place_whatever_the_texts_hold(
    words: set[str], span: Span[str]
) -> None:
    low, high = (None if end is None else escape(end) for end in (span.low, span.high))
    if low is not None and high is not None and low > high:
        return
    wanted = inside(Span(low, high, span.include_low, span.include_high))
    found_texts = found([Line(text=word) for word in words], lines_in(span))
    assert sorted(found_texts) == sorted(word for word in words if wanted(escape(word)))


@steady
@given(st.sets(texts, max_size=6), texts)
def test_a_prefix_finds_what_begins_so(words: set[str], prefix: str) -> None:
    expected = sorted((word for word in words if word.startswith(prefix)), key=str.encode)
    assert found([Word(word=word) for word in words], words_like(Prefix(prefix))) == expected
    in_key_order = sorted(expected, key=lambda word: escape(word).encode())
    assert found([Phrase(text=word) for word in words], phrases_like(Prefix(prefix))) == in_key_order


def test_a_prefix_stays_within_its_partition_and_entity() -> None:
    with fresh_session() as db:
        tasks = [db.run(insert(Task(user_id="u", task_id=task_id))) for task_id in ("ab", "abc", "b")]
        db.run(insert(Task(user_id="v", task_id="abd")))
        assert list(db.run(tasks_like("u", Prefix("ab")))) == tasks[:2]


@pytest.mark.parametrize("span", [Span(date(2026, 1, 2), date(2026, 1, 1)), Span.between(date(2027, 1, 1), date.min)])
def test_a_span_that_ends_before_it_begins_is_refused(span: Span[date]) -> None:
    with pytest.raises(InvalidKey, match="ends before it begins"):
        tasks_due("u", span)


def test_a_span_with_two_open_ends_is_the_whole_range() -> None:
    with fresh_session() as db:
        task = db.run(insert(Task(user_id="u", task_id="t", due=date(2026, 1, 1))))
        assert list(db.run(tasks_due("u", Span()))) == [task]


def test_an_empty_prefix_is_every_text() -> None:
    with fresh_session() as db:
        tasks = [db.run(insert(Task(user_id="u", task_id=task_id))) for task_id in ("a", "b")]
        assert list(db.run(tasks_like("u", Prefix("")))) == tasks
