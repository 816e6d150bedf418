"""A multi-tenant SaaS: tickets of many tenants, in an index whose keys have several attributes.

    pip install partita
    python saas.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `create(ticket)`, `move(ticket, status)` | a ticket | 6 WCU |
| `ticket(tenant, number)` | one ticket | 0.5 RCU |
| `in_region(tenant, region)` | a tenant's tickets of a region, by status and priority | 13 RCU |
| `with_status(tenant, region, status)` | those of one status, by priority | 13 RCU |
| `urgent(tenant, region, status, priority)` | those of a range of priorities | 13 RCU |
| `of_assignee(assignee, tenant)` | what somebody has to do for one tenant | 13 RCU |

The partition key of the index is tenant and region, its sort key status, priority and number: fields as they are, with
their own types. Nothing is glued together, so nothing is stored twice, and `priority` sorts as the number that it is.

It prints:

    acme in eu: closed 1, open 2, open 10
    open: 2, 10
    open, priority 5 and up: 10
    after closing ticket 3: open 2
    ada for acme: 1, 3
    another tenant sees: nothing
    urgent: Query on by-region
      predicted: 12.5 RCU (with items of 1,024 bytes)
      budget:    13 RCU
"""

from __future__ import annotations

from typing import ClassVar

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Put,
    Rcu,
    Session,
    Span,
    Table,
    Update,
    Wcu,
    explain,
    f,
    get,
    insert,
    pattern,
    query,
    update,
)

TABLE = Table(
    "tickets",
    indexes=[
        Index("by-region", hash=["tenant", "region"], range=["status", ("priority", "N"), ("number", "N")]),
        Index("by-assignee", hash=["assignee", "tenant"], range=("number", "N")),
    ],
)


class Ticket(Entity, table=TABLE):
    """What a customer of a tenant asks for."""

    primary: ClassVar = Key("TENANT#{tenant}", "TICKET#{number:08}")
    by_region: ClassVar = Key(["{tenant}", "{region}"], ["{status}", "{priority}", "{number}"], index="by-region")
    by_assignee: ClassVar = Key(["{assignee}", "{tenant}"], "{number}", index="by-assignee")

    tenant: str
    number: int
    region: str
    status: str = "open"
    priority: int
    assignee: str | None = None


@pattern(budget=Wcu(6))
def create(new: Ticket) -> Put[Ticket]:
    """A new ticket."""
    return insert(new)


@pattern(budget=Wcu(6))
def move(old: Ticket, status: str) -> Update[Ticket]:
    """Give a ticket another status; the index follows by itself, because the field is its key."""
    return update(old, f(Ticket.status).set(status))


@get(Ticket, budget=Rcu(0.5))
def ticket(tenant: str, number: int) -> None:
    """One ticket."""


@query(Ticket, Ticket.by_region, budget=Rcu(13))
def in_region(tenant: str, region: str) -> None:
    """A tenant's tickets of a region, by status and priority."""


@query(Ticket, Ticket.by_region, budget=Rcu(13))
def with_status(tenant: str, region: str, status: str) -> None:
    """Those of one status, by priority."""


@query(Ticket, Ticket.by_region, budget=Rcu(13))
def urgent(tenant: str, region: str, status: str, priority: Span[int]) -> None:
    """Those of a range of priorities."""


@query(Ticket, Ticket.by_assignee, budget=Rcu(13))
def of_assignee(assignee: str, tenant: str) -> None:
    """What somebody has to do for one tenant."""


EXPLAINED = urgent("acme", "eu", "open", Span.since(5))


def tell(db: Session) -> None:
    """Tell the story of three tickets."""
    for number, status, priority in ((1, "open", 2), (2, "closed", 1), (3, "open", 10)):
        assignee = None if status == "closed" else "ada"
        made = Ticket(tenant="acme", number=number, region="eu", status=status, priority=priority, assignee=assignee)
        db.run(create(made))

    print("acme in eu:", ", ".join(f"{each.status} {each.priority}" for each in db.run(in_region("acme", "eu"))))
    print("open:", ", ".join(str(each.priority) for each in db.run(with_status("acme", "eu", "open"))))
    found = db.run(urgent("acme", "eu", "open", Span.since(5)))
    print("open, priority 5 and up:", ", ".join(str(each.priority) for each in found))
    db.run(move(found.items[0], "closed"))
    still = db.run(with_status("acme", "eu", "open"))
    print("after closing ticket 3:", ", ".join(f"{each.status} {each.priority}" for each in still))
    print("ada for acme:", ", ".join(str(each.number) for each in db.run(of_assignee("ada", "acme"))))
    print("another tenant sees:", ", ".join(str(each.number) for each in db.run(in_region("other", "eu"))) or "nothing")
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def main() -> None:
    """Tell it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
