"""Queries: only items of their entity, order, pages without gaps or repetitions, filters, limits and views."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.sample import (
    SAMPLES,
    Comment,
    Status,
    Step,
    Task,
    Title,
    User,
    best_comments,
    fresh_session,
    session_on,
    steady,
    tasks_due,
    tasks_of,
    tasks_with_status,
    titles_with_status,
)

from partita import Condition, EmbeddedStore, Page, Query, Session, Span, delete, f, insert, put
from partita.errors import LimitExceeded, OperationError
from partita.store import QueryTable
from partita.testing import FakeClock, FaultyStore


def fill(db: Session, count: int, user_id: str = "u") -> list[Task]:
    return [
        db.run(insert(Task(user_id=user_id, task_id=f"{n:03}", title=str(n), points=n, status=list(Status)[n % 3])))
        for n in range(count)
    ]


def pages(db: Session, query: Query[Task], limit: int) -> list[Page[Task]]:
    found = [db.run(query.page(limit))]
    while found[-1].next_cursor is not None:
        found.append(db.run(query.page(limit, after=found[-1].next_cursor)))
    return found


# --- entity-safe reads ---


def test_items_of_other_entities_in_the_range_are_never_read_as_the_wrong_one(db: Session) -> None:
    tasks = fill(db, 3)
    for task in tasks:
        for number in range(5):
            db.run(put(Step(user_id="u", task_id=task.task_id, number=number)))
    assert list(db.run(tasks_of("u"))) == tasks
    assert [list(page) for page in pages(db, tasks_of("u"), 1)][:3] == [[task] for task in tasks]
    assert db.run(tasks_of("u").count()) == 3
    assert list(db.run(tasks_of("u").walk(max_items=100))) == tasks


def test_the_first_match_is_found_behind_many_items_that_are_not_to_be_seen(db: Session) -> None:
    for number in range(30):
        db.run(put(Step(user_id="u", task_id="a", number=number)))
    task = db.run(insert(Task(user_id="u", task_id="b")))
    assert db.run(tasks_of("u").first()) == task


def test_a_page_is_filled_from_behind_many_items_that_are_not_to_be_seen(db: Session) -> None:
    for number in range(99):
        db.run(put(Step(user_id="u", task_id="a", number=number)))
    tasks = [db.run(insert(Task(user_id="u", task_id=task_id))) for task_id in ("b", "c", "d")]
    assert list(db.run(tasks_of("u").page(2))) == tasks[:2]


def test_a_count_on_a_shared_index_counts_its_own_entity_only(db: Session) -> None:
    fill(db, 5)
    db.run(put(Comment(user_id="u", comment_id="c", mood="sad")))
    assert db.run(tasks_with_status("u", Status.OPEN).count()) == 2


# --- order, filters, paging ---

FILTERS: list[tuple[Condition | None, range]] = [
    (None, range(12)),
    (f(Task.points).lt(3), range(3)),
    (f(Task.points).ge(10), range(10, 12)),
    (f(Task.points).gt(99), range(0)),
]


@steady
@given(st.integers(0, 12), st.integers(1, 5), st.booleans(), st.sampled_from(FILTERS), st.sets(st.integers(0, 11)))
def test_pages_neither_skip_nor_repeat(
    count: int,
    limit: int,
    backwards: bool,  # noqa: FBT001
    condition_and_points: tuple[Condition | None, range],
    expired: set[int],
) -> None:
    condition, points = condition_and_points
    with fresh_session() as db:
        past = datetime.fromtimestamp(db.context.clock(), UTC) - timedelta(seconds=1)
        for n in range(count):
            at = past if n in expired else None
            db.run(put(Task(user_id="u", task_id=f"{n:02}", points=n, status=Status.OPEN, expires_at=at)))
            db.run(put(Step(user_id="u", task_id=f"{n:02}", number=1)))
        fill(db, 2, user_id="v")
        query = tasks_of("u") if condition is None else tasks_of("u").where(condition)
        expected = [n for n in range(count) if n in points and n not in expired]
        found = pages(db, query.reversed() if backwards else query, limit)
        assert [task.points for page in found for task in page] == (expected[::-1] if backwards else expected)
        assert all(len(page) <= limit for page in found)


@steady
@given(st.lists(st.dates(date(2026, 1, 1), date(2026, 1, 3)), max_size=10), st.integers(1, 4), st.booleans())
def test_pages_of_an_index_with_ties_neither_skip_nor_repeat(dues: list[date], limit: int, backwards: bool) -> None:  # noqa: FBT001
    with fresh_session() as db:
        tasks = [db.run(insert(Task(user_id="u", task_id=f"{n:02}", due=due))) for n, due in enumerate(dues)]
        expected = sorted(tasks, key=lambda task: (task.due, task.task_id), reverse=backwards)
        query = tasks_due("u", Span())
        found = pages(db, query.reversed() if backwards else query, limit)
        assert [task for page in found for task in page] == expected


def test_a_filtered_page_is_filled(db: Session) -> None:
    tasks = fill(db, 50)
    page = db.run(tasks_of("u").where(f(Task.points).ge(45)).page(3))
    assert list(page) == tasks[45:48]
    assert page.next_cursor is not None


def test_a_page_that_ends_the_range_has_no_cursor(db: Session) -> None:
    fill(db, 3)
    assert db.run(tasks_of("u").page(4)).next_cursor is None


def test_a_page_without_matches_is_empty(db: Session) -> None:
    assert db.run(tasks_of("nobody")) == Page((), None)


def test_items_written_or_deleted_between_two_pages_cause_no_repetition(db: Session) -> None:
    tasks = fill(db, 6)
    first = db.run(tasks_of("u").page(3))
    db.run(delete(tasks[2]))
    db.run(insert(Task(user_id="u", task_id="0000")))
    second = db.run(tasks_of("u").page(9, after=first.next_cursor))
    assert list(second) == tasks[3:]


def test_newest_first_is_the_declared_order_and_can_be_turned(db: Session) -> None:
    comments = [db.run(put(Comment(user_id="u", comment_id=str(n), mood="sad", score=n))) for n in (-1, 0, 2)]
    assert list(db.run(best_comments("sad"))) == comments[::-1]
    assert list(db.run(best_comments("sad").reversed())) == comments


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_sensible_limit(limit: int) -> None:
    with pytest.raises(OperationError, match="A page has 1 to 1000 items"):
        tasks_of("u").page(limit)


def test_filters_add_up(db: Session) -> None:
    tasks = fill(db, 6)
    query = tasks_of("u").where(f(Task.points).gt(1)).where(f(Task.points).lt(4))
    assert list(db.run(query)) == tasks[2:4]


def test_a_filter_on_another_entitys_field_is_refused() -> None:
    with pytest.raises(OperationError, match="Task has no attribute 'name'"):
        tasks_of("u").where(f(User.name).eq("x"))


def test_a_consistent_read_of_a_global_index_is_refused() -> None:
    with pytest.raises(OperationError, match="The global index 'GSI1' does not support consistent reads"):
        tasks_with_status("u", Status.OPEN).consistent()


def test_a_consistent_read_costs_twice_as_much(db: Session) -> None:
    fill(db, 1)
    with db.meter.watch() as seen:
        db.run(tasks_of("u"))
        db.run(tasks_of("u").consistent())
        db.run(tasks_of("u").consistent().first())
    assert [run.read for run in seen] == [0.5, 1.0, 1.0]


# --- views ---


def test_a_view_reads_only_its_fields(fake_clock: FakeClock) -> None:
    store = FaultyStore(EmbeddedStore(":memory:", clock=fake_clock))
    db = session_on(store, fake_clock)
    fill(db, 4)
    page = db.run(titles_with_status("u", Status.OPEN))
    assert list(page) == [Title(task_id="000", title="0"), Title(task_id="003", title="3")]
    request = store.requests[-1]
    assert isinstance(request, QueryTable)
    names = {path.parts[0] for path in request.projection or ()}
    assert names == {"task_id", "title", "PK", "SK", "GSI1PK", "GSI1SK", "expires_at"}


def test_a_view_is_paged_and_filtered_like_its_entity(db: Session) -> None:
    fill(db, 12)
    query = titles_with_status("u", Status.OPEN).where(f(Task.points).gt(0))
    first = db.run(query.page(2))
    second = db.run(query.page(2, after=first.next_cursor))
    assert [title.title for title in (*first, *second)] == ["3", "6", "9"]


# --- first, count, walk ---


def test_first_gives_the_first_match_or_none(db: Session) -> None:
    assert db.run(tasks_of("u").first()) is None
    tasks = fill(db, 5)
    assert db.run(tasks_of("u").first()) == tasks[0]
    assert db.run(tasks_of("u").reversed().first()) == tasks[4]
    assert db.run(tasks_of("u").where(f(Task.points).gt(2)).first()) == tasks[3]
    request = next(tasks_of("u").first().requests(db.context))
    assert isinstance(request, QueryTable)
    assert request.limit == 1, "one item is read, and not a page"


def test_count_counts_all_matches(db: Session) -> None:
    fill(db, 7)
    assert db.run(tasks_of("u").count()) == 7
    assert db.run(tasks_of("u").page(2).count()) == 7
    assert db.run(tasks_of("u").where(f(Task.points).lt(3)).count()) == 3


def test_count_gives_up_after_its_maximum_of_pages(db: Session) -> None:
    with pytest.raises(LimitExceeded, match="has more than 0 pages to count"):
        db.run(tasks_of("u").count(max_pages=0))


@pytest.mark.req("C24")
def test_a_walk_says_when_it_stopped_before_the_end(db: Session) -> None:
    tasks = fill(db, 5)
    exact = db.run(tasks_of("u").walk(max_items=5))
    assert (exact.items, exact.truncated) == (tuple(tasks), False)
    short = db.run(tasks_of("u").walk(max_items=3))
    assert (short.items, short.truncated, len(short)) == (tuple(tasks[:3]), True, 3)
    assert not db.run(tasks_of("u").walk(max_items=6)).truncated


def test_a_walk_counts_what_it_inspects_not_what_it_finds(db: Session) -> None:
    fill(db, 6)
    walked = db.run(tasks_of("u").where(f(Task.points).ge(5)).walk(max_items=4))
    assert (walked.items, walked.truncated) == ((), True)


@pytest.mark.parametrize("most", [0, -1])
def test_a_walk_needs_a_positive_maximum(most: int) -> None:
    with pytest.raises(OperationError, match="walk"):
        tasks_of("u").walk(max_items=most)


@pytest.mark.parametrize("turn", ["first", "walk", "count"])
def test_a_cursor_is_refused_where_it_would_be_ignored(db: Session, turn: str) -> None:
    fill(db, 3)
    rest = tasks_of("u").page(1, after=db.run(tasks_of("u").page(1)).next_cursor)
    with pytest.raises(OperationError, match="cursor"):
        rest.walk(max_items=9) if turn == "walk" else rest.first() if turn == "first" else rest.count()


def test_a_walk_goes_on_over_pages_of_one_megabyte(db: Session) -> None:
    titles = [str(n) + "x" * 300_000 for n in range(6)]
    for n, title in enumerate(titles):
        db.run(insert(Task(user_id="u", task_id=str(n), title=title)))
    with db.meter.watch() as seen:
        walked = db.run(tasks_of("u").walk(max_items=100))
    assert [task.title for task in walked] == titles
    assert seen[0].requests == ("QueryTable", "QueryTable")
    assert not walked.truncated


def test_the_registry_knows_every_pattern() -> None:
    assert {"tasks_of", "task_by_id", "board", "create_task"} <= set(SAMPLES["sample"].patterns)


# --- some fields ---


def test_only_some_fields_are_read(partita_store: EmbeddedStore, fake_clock: FakeClock) -> None:
    store = FaultyStore(partita_store)
    db = session_on(store, fake_clock)
    fill(db, 2)
    page = db.run(tasks_of("u").only(f(Task.title), f(Task.points)).page(1))
    (task,) = page.items
    assert (task.title, task.points, task.task_id, task.status) == ("0", 0, None, None)
    (sent,) = [request for request in store.requests if isinstance(request, QueryTable)]
    assert {path.parts[0] for path in sent.projection or ()} == {"title", "points", "PK", "SK", "expires_at"}


def test_fields_that_were_asked_for_have_their_defaults_where_nothing_is_stored(db: Session) -> None:
    fill(db, 1)
    (task,) = db.run(tasks_of("u").only(f(Task.tags), f(Task.due)))
    assert (task.tags, task.due, task.notes) == (frozenset(), None, None)


def test_a_page_goes_on_with_other_fields(db: Session) -> None:
    tasks = fill(db, 2)
    first = db.run(tasks_of("u").only(f(Task.title)).page(1))
    assert list(db.run(tasks_of("u").page(1, after=first.next_cursor))) == tasks[1:]


def test_fields_that_the_query_does_not_read_are_refused() -> None:
    with pytest.raises(OperationError, match="tasks_of does not read 'number'"):
        tasks_of("u").only(f(Step.number))
    with pytest.raises(OperationError, match="titles_with_status does not read 'points'"):
        titles_with_status("u", Status.OPEN).only(f(Task.points))
