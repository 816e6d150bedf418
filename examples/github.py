"""GitHub's model: accounts, repositories, issues, stars and forks in one table.

    pip install partita
    python github.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `account_page(name)` | an account and its 10 most recently updated repositories, in one query | 3 RCU |
| `repository_page(owner, name)` | a repository and its 20 newest issues, in one query | 6 RCU |
| `open_issues(owner, repo)` | the open issues of a repository, newest first | 5 RCU |
| `stars_of(user)` | the stars of a user, newest first | 5 RCU |
| `fans_of(owner, name)` | a repository with up to 5 forks and 5 stars | 5 RCU |
| `repository(owner, name)`, `issue(owner, repo, number)` | one repository, one issue | 1 RCU |
| `next_number(repository)` | count an issue of the repository, for its number | 6 WCU |
| `open_issue(issue)`, `close_issue(issue)` | an issue, which is in the index of open issues while it is open | 3 WCU |
| `star(star, repository)` | write a star and count it, or neither | 16 WCU |

Users and organisations share the key `ACCOUNT#name`, so that each name can be taken only once; the attribute `type`
distinguishes them. A repository sorts directly after its issues, so one query in descending order returns the
repository and its newest issues. Its forks sort before the issues and its stars after the repository, so that query
does not read them.

It prints:

    ada has: engine, notes
    ada/engine has 1 star; newest first: #3 Rust, #2 Noise
    older: #1 Smoke
    open: #3 Rust, #1 Smoke
    ben starred: ada/engine
    forks: none, stars: ben
    repository_page: Query on the table
      predicted: 3 RCU (with items of 1,024 bytes)
      budget:    6 RCU
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Put,
    Rcu,
    Session,
    Table,
    Transaction,
    Update,
    Wcu,
    collect,
    explain,
    f,
    get,
    insert,
    pattern,
    query,
    transact,
    update,
)
from partita.store import PutItem, UpdateItem

TABLE = Table("github", indexes=[Index("GSI1"), Index("GSI2")], type_attribute="type")
START = datetime(2026, 1, 1, tzinfo=UTC)


def is_open(closed_at: datetime | None) -> bool:
    """Whether an issue is in the index of open issues."""
    return closed_at is None


class Account(Entity):
    """The fields and keys that users and organisations share."""

    primary: ClassVar = Key("ACCOUNT#{name}", "ACCOUNT")
    with_repositories: ClassVar = Key("ACCOUNT#{name}", "SELF", index="GSI1")

    name: str


class User(Account, table=TABLE):
    """An account of a person."""

    email: str


class Organisation(Account, table=TABLE):
    """An account of several people."""

    owner: str


class Repository(Entity, table=TABLE):
    """A repository of an account."""

    primary: ClassVar = Key("REPO#{owner}#{name}", "REPO")
    by_owner: ClassVar = Key("ACCOUNT#{owner}", "REPO#{updated_at}#{name}", index="GSI1")

    owner: str
    name: str
    updated_at: datetime
    issues: int = 0
    stars: int = 0


class Issue(Entity, table=TABLE):
    """An issue of a repository."""

    primary: ClassVar = Key("REPO#{owner}#{repo}", "ISSUE#{number:08}")
    open: ClassVar = Key("OPEN#{owner}#{repo}", "{number:-08}", index="GSI2", when=is_open)

    owner: str
    repo: str
    number: int
    title: str
    closed_at: datetime | None = None


class Star(Entity, table=TABLE):
    """A user's star for a repository."""

    primary: ClassVar = Key("REPO#{owner}#{repo}", "STAR#{user}")
    by_user: ClassVar = Key("STARS#{user}", "{at}", index="GSI1")

    owner: str
    repo: str
    user: str
    at: datetime


class Fork(Entity, table=TABLE):
    """An account's fork of a repository."""

    primary: ClassVar = Key("REPO#{owner}#{repo}", "FORK#{by}")

    owner: str
    repo: str
    by: str


@dataclass(frozen=True)
class AccountPage:
    """The content of an account's page."""

    user: User | None
    organisation: Organisation | None
    repositories: tuple[Repository, ...]


@dataclass(frozen=True)
class RepositoryPage:
    """The content of a repository's page."""

    repository: Repository
    issues: tuple[Issue, ...]


@dataclass(frozen=True)
class Fans:
    """A repository with its forks and stars."""

    repository: Repository
    forks: tuple[Fork, ...]
    stars: tuple[Star, ...]


@collect(AccountPage, "ACCOUNT#{name}", index="GSI1", newest_first=True, limits={Repository: 10}, budget=Rcu(3))
def account_page(name: str) -> None:
    """An account and its most recently updated repositories, which share its partition of the index."""


@collect(RepositoryPage, "REPO#{owner}#{name}", newest_first=True, limits={Issue: 20}, budget=Rcu(6))
def repository_page(owner: str, name: str) -> None:
    """A repository and its newest issues."""


@collect(Fans, "REPO#{owner}#{name}", limits={Fork: 5, Star: 5}, budget=Rcu(5))
def fans_of(owner: str, name: str) -> None:
    """A repository with some forks and stars; the issues, which sort between them, are not read."""


@query(Issue, Issue.open, budget=Rcu(5))
def open_issues(owner: str, repo: str) -> None:
    """The open issues of a repository, newest first."""


@query(Star, Star.by_user, newest_first=True, budget=Rcu(5))
def stars_of(user: str) -> None:
    """The stars of a user, newest first."""


@get(Repository, budget=Rcu(1))
def repository(owner: str, name: str) -> None:
    """One repository."""


@get(Issue, budget=Rcu(1))
def issue(owner: str, repo: str, number: int) -> None:
    """One issue."""


@pattern(budget=Wcu(6))
def next_number(repo: Repository, at: datetime) -> Update[Repository]:
    """Count a new issue; the returned repository has its number, and the new time of its last update."""
    return update(repo, f(Repository.issues).add(1), f(Repository.updated_at).set(at))


@pattern(budget=Wcu(3))
def open_issue(new: Issue) -> Put[Issue]:
    """Write a new issue."""
    return insert(new)


@pattern(budget=Wcu(3))
def close_issue(done: Issue, at: datetime) -> Update[Issue]:
    """Close an issue, which removes it from the index of open issues."""
    return update(done, f(Issue.closed_at).set(at))


@pattern(budget=Wcu(16), writes={Star: (PutItem,), Repository: (UpdateItem,)})
def star(new: Star, repo: Repository) -> Transaction:
    """Star a repository and count the star; a second star by the same user is refused."""
    return transact(insert(new), update(repo, f(Repository.stars).add(1)))


EXPLAINED = repository_page("ada", "engine")


def tell(db: Session) -> None:
    """Fill a repository, and print what the patterns return."""
    db.run(insert(User(name="ada", email="ada@example.com")))
    db.run(insert(Organisation(name="makers", owner="ada")))
    for day, name in enumerate(("notes", "engine")):
        db.run(insert(Repository(owner="ada", name=name, updated_at=START + timedelta(days=day))))
    page = db.run(account_page("ada"))
    assert page is not None
    print("ada has:", ", ".join(each.name for each in page.repositories))

    engine = page.repositories[0]
    for day, title in enumerate(("Smoke", "Noise", "Rust"), 2):
        engine = db.run(next_number(engine, START + timedelta(days=day)))
        db.run(open_issue(Issue(owner="ada", repo="engine", number=engine.issues, title=title)))
    db.run(star(Star(owner="ada", repo="engine", user="ben", at=START), engine))

    first = db.run(repository_page("ada", "engine").page(2))
    assert first.result is not None
    print(f"ada/engine has {first.result.repository.stars} star; newest first:", shown(first.result.issues))
    older = db.run(repository_page("ada", "engine").page(2, after=first.next_cursor))
    assert older.result is not None
    print("older:", shown(older.result.issues))

    db.run(close_issue(first.result.issues[1], START + timedelta(days=9)))
    print("open:", shown(db.run(open_issues("ada", "engine")).items))
    print("ben starred:", ", ".join(f"{each.owner}/{each.repo}" for each in db.run(stars_of("ben"))))
    fans = db.run(fans_of("ada", "engine"))
    assert fans is not None
    print(f"forks: {', '.join(each.by for each in fans.forks) or 'none'}, stars:", fans.stars[0].user)
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def shown(issues: tuple[Issue, ...]) -> str:
    """Issues in one line."""
    return ", ".join(f"#{each.number} {each.title}" for each in issues)


def main() -> None:
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
