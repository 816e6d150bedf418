"""Collections with a range, an order and a limit for each entity: they read only what they return."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from typing import ClassVar

import pytest

from partita import (
    AsyncSession,
    Entity,
    Index,
    Key,
    Rcu,
    Registry,
    Session,
    Span,
    Table,
    batch_write,
    collect,
    explain,
    insert,
    pattern,
    put,
)
from partita.errors import InvalidCursor, LimitExceeded, OperationError
from partita.operations import CollectPage
from partita.store import PutItem
from partita.testing import FakeClock

HUB = Table("hub", indexes=[Index("GSI1")], ttl="until", registry=Registry())
KILOBYTE = "x" * 900


class Account(Entity, table=HUB):
    primary: ClassVar = Key("ACCOUNT#{name}", "ACCOUNT")

    name: str


class Repo(Entity, table=HUB):
    primary: ClassVar = Key("REPO#{owner}#{name}", "REPO")
    by_owner: ClassVar = Key("ACCOUNT#{owner}", "REPO#{name}", index="GSI1")

    owner: str
    name: str


class Membership(Entity, table=HUB):
    primary: ClassVar = Key("ACCOUNT#{account}", "MEMBER#{user}")
    by_account: ClassVar = Key("ACCOUNT#{account}", "MEMBER#{user}", index="GSI1")

    account: str
    user: str
    until: int | None = None


class Billing(Entity, table=HUB):
    primary: ClassVar = Key("ACCOUNT#{account}", "BILLING")

    account: str


class Fork(Entity, table=HUB):
    primary: ClassVar = Key("REPO#{owner}#{repo}", "FORK#{by}")

    owner: str
    repo: str
    by: str
    note: str = KILOBYTE


class Issue(Entity, table=HUB):
    primary: ClassVar = Key("REPO#{owner}#{repo}", "ISSUE#{number:06}")

    owner: str
    repo: str
    number: int
    body: str = KILOBYTE


class Star(Entity, table=HUB):
    primary: ClassVar = Key("REPO#{owner}#{repo}", "STAR#{by}")

    owner: str
    repo: str
    by: str
    note: str = KILOBYTE


@dataclass(frozen=True)
class RepoPage:
    repo: Repo
    issues: tuple[Issue, ...]


@dataclass(frozen=True)
class Fans:
    repo: Repo | None
    forks: tuple[Fork, ...]
    stars: tuple[Star, ...]


@dataclass(frozen=True)
class Shelf:
    members: tuple[Membership, ...]
    repos: tuple[Repo, ...]


@dataclass(frozen=True)
class AccountPage:
    account: Account
    members: tuple[Membership, ...]


@collect(RepoPage, "REPO#{owner}#{name}", newest_first=True, limits={Issue: 20}, budget=Rcu(3))
def repo_page(owner: str, name: str) -> None:
    """A repository and its newest 20 issues."""


@collect(RepoPage, "REPO#{owner}#{name}", limits={Issue: 20})
def oldest_first(owner: str, name: str) -> None: ...
@collect(RepoPage, "REPO#{owner}#{name}", newest_first=True)
def issues_in(owner: str, name: str, number: Span[int]) -> None: ...
@collect(RepoPage, "REPO#{owner}#{name}")
def whole(owner: str, name: str) -> None: ...
@collect(Fans, "REPO#{owner}#{repo}", limit=25)
def fans(owner: str, repo: str) -> None: ...
@collect(Fans, "REPO#{owner}#{repo}", limits={Fork: 2, Star: 3})
def some_fans(owner: str, repo: str) -> None: ...
@collect(Shelf, "ACCOUNT#{owner}", index="GSI1")
def shelf(owner: str) -> None: ...
@collect(AccountPage, "ACCOUNT#{name}", limits={Membership: 2})
def account_page(name: str) -> None: ...


@pytest.fixture
def hub(partita_db: Session) -> Session:
    """A repository with 30 issues, 40 stars and 40 forks, of about 1 KB each."""
    partita_db.create_tables([HUB])
    partita_db.run(insert(Repo(owner="ada", name="engine")))
    partita_db.run(batch_write([put(issue(n)) for n in range(1, 31)]))
    partita_db.run(batch_write([put(Star(owner="ada", repo="engine", by=f"u{n}")) for n in range(40)]))
    partita_db.run(batch_write([put(Fork(owner="ada", repo="engine", by=f"u{n}")) for n in range(40)]))
    return partita_db


def issue(number: int) -> Issue:
    return Issue(owner="ada", repo="engine", number=number)


def numbers(page: RepoPage | None) -> list[int]:
    assert page is not None
    return [each.number for each in page.issues]


def test_a_repository_and_its_newest_issues_are_one_query_of_what_they_hold(hub: Session) -> None:
    with hub.meter.watch() as seen:
        page = hub.run(repo_page("ada", "engine"))
    assert numbers(page) == list(range(30, 10, -1))
    # 20 issues of about 1,000 bytes and the repository: 2.5 units, although the partition has 110,000 bytes.
    assert [(run.requests, run.read) for run in seen] == [(("QueryTable",), 2.5)]


def test_the_other_way_round_the_limit_stands_between_so_there_are_two_queries(hub: Session) -> None:
    explained = explain(oldest_first("ada", "engine"), hub)
    assert len(explained.at_once) == 2
    assert explained.consumed is not None
    assert (explained.consumed.read, explained.requests_sent) == (3.0, 2)
    assert str(explained).startswith("oldest_first: Query on the table, 2 at once\n")
    assert numbers(hub.run(oldest_first("ada", "engine"))) == list(range(1, 21))


def test_a_range_restricts_the_entity_that_has_the_field(hub: Session) -> None:
    with hub.meter.watch() as seen:
        page = hub.run(issues_in("ada", "engine", Span.between(5, 8)))
    assert numbers(page) == [8, 7, 6, 5]
    assert page is not None
    assert page.repo.name == "engine"
    # A single query from issue 5 to the repository would also read issues 9 to 30.
    assert [(len(run.requests), run.read) for run in seen] == [(2, 1.0)]


def test_what_is_not_asked_for_counts_against_no_limit(hub: Session) -> None:
    page = hub.run(whole("ada", "engine"))
    assert numbers(page) == list(range(1, 31))
    with pytest.raises(LimitExceeded, match="fans has more than 25 items"):
        hub.run(fans("ada", "engine"))


def test_each_entity_has_a_limit_of_its_own(hub: Session) -> None:
    found = hub.run(some_fans("ada", "engine"))
    assert found is not None
    assert ([each.by for each in found.forks], [each.by for each in found.stars]) == (["u0", "u1"], ["u0", "u1", "u10"])


def test_entities_may_have_other_names_for_the_fields_of_the_partition(hub: Session) -> None:
    repo = hub.run(insert(Repo(owner="org", name="tool")))
    member = hub.run(insert(Membership(account="org", user="ada")))
    assert hub.run(shelf("org")) == Shelf((member,), (repo,))


def test_items_that_are_read_and_not_asked_for_are_gone_past(hub: Session, fake_clock: FakeClock) -> None:
    """A limit counts neither other entities in the range nor expired items: the query continues after them."""
    hub.run(insert(Account(name="org")))
    hub.run(insert(Billing(account="org")))
    hub.run(insert(Membership(account="org", user="a", until=int(fake_clock()))))
    for user in "bcd":
        hub.run(insert(Membership(account="org", user=user)))
    with hub.meter.watch() as seen:
        found = hub.run(account_page("org"))
    assert found is not None
    assert [each.user for each in found.members] == ["b", "c"]
    assert [run.requests for run in seen] == [("QueryTable", "QueryTable")]


def test_a_collection_of_a_global_index_has_no_consistent_reads() -> None:
    with pytest.raises(OperationError, match="The global index 'GSI1' does not support consistent reads"):
        shelf("org").consistent()


def test_a_pattern_may_be_a_page_of_a_collection(hub: Session) -> None:
    @pattern(via=repo_page)
    def repo_page_from(owner: str, name: str, cursor: str | None) -> CollectPage[RepoPage]:
        return repo_page(owner, name).page(5, after=cursor)

    try:
        assert HUB.patterns["repo_page_from"].kind == "collect"
        assert numbers(hub.run(repo_page_from("ada", "engine", None)).result) == [30, 29, 28, 27, 26]
    finally:
        del HUB.patterns["repo_page_from"]


# --- pages ---


def test_pages_go_on_with_the_entity_that_has_the_limit(hub: Session) -> None:
    seen: list[int] = []
    cursor: str | None = None
    while True:
        page = hub.run(repo_page("ada", "engine").page(8, after=cursor))
        assert page.result is not None
        assert page.result.repo.name == "engine"
        seen += numbers(page.result)
        if (cursor := page.next_cursor) is None:
            break
    assert seen == list(range(30, 0, -1))


def test_a_page_costs_what_it_shows(hub: Session) -> None:
    first = hub.run(repo_page("ada", "engine").page(4))
    with hub.meter.watch() as seen:
        hub.run(repo_page("ada", "engine").page(4, after=first.next_cursor))
    assert [(len(run.requests), run.read) for run in seen] == [(2, 1.0)]


def test_a_page_of_a_missing_collection_is_none(hub: Session) -> None:
    page = hub.run(repo_page("ada", "nothing").page())
    assert (page.result, page.next_cursor) == (None, None)


def test_a_cursor_is_bound_to_its_collection(hub: Session) -> None:
    cursor = hub.run(repo_page("ada", "engine").page(4)).next_cursor
    with pytest.raises(InvalidCursor):
        hub.run(repo_page("ada", "other").page(4, after=cursor))
    with pytest.raises(InvalidCursor):
        hub.run(oldest_first("ada", "engine").page(4, after=cursor))


def test_only_one_entity_can_be_paged() -> None:
    with pytest.raises(OperationError, match="some_fans has 2 entities with a limit; a page needs exactly one"):
        some_fans("ada", "engine").page()
    with pytest.raises(OperationError, match="whole has no entities with a limit"):
        whole("ada", "engine").page()
    with pytest.raises(OperationError, match="A page has 1 to 1000 items"):
        repo_page("ada", "engine").page(0)


async def test_an_async_session_reads_the_ranges_at_once(hub: Session) -> None:
    found = await AsyncSession(hub.store).run(oldest_first("ada", "engine"))
    assert numbers(found) == list(range(1, 21))


# --- unwanted items in a range ---


def test_items_of_no_entity_are_told_of_and_do_not_count(hub: Session) -> None:
    for n in range(25):
        hub.store.execute(PutItem("hub", {"PK": "REPO#ada#engine", "SK": f"ISSUE#{n:06}#x"}))
    session = Session(hub.store)
    assert numbers(session.run(repo_page("ada", "engine"))) == list(range(30, 10, -1))
    assert any(usage.unclaimed for usage in session.meter.usage())


def test_one_item_between_two_parts_does_not_make_them_two_queries(partita_db: Session) -> None:
    """Reading one unwanted item costs less than a second query."""
    shop = Table("shop", registry=Registry())

    class Line(Entity, table=shop):
        primary: ClassVar = Key("ORDER#{order}", "LINE#{number:03}")
        order: str
        number: int

    class Note(Entity, table=shop):
        primary: ClassVar = Key("ORDER#{order}", "NOTE")
        order: str

    class Order(Entity, table=shop):
        primary: ClassVar = Key("ORDER#{order}", "ORDER")
        order: str

    whole = make_dataclass("Whole", [("order", Order), ("lines", tuple[Line, ...])], frozen=True)

    @collect(whole, "ORDER#{order}")
    def asked(order: str) -> None:
        """An order and its lines."""

    partita_db.create_tables([shop])
    for each in (Line(order="o", number=1), Note(order="o"), Order(order="o")):
        partita_db.run(insert(each))
    with partita_db.meter.watch() as seen:
        assert partita_db.run(asked("o")) == whole(Order(order="o"), (Line(order="o", number=1),))
    assert [run.requests for run in seen] == [("QueryTable",)]
