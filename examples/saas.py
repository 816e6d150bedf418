"""A multi-tenant SaaS: the tickets of many tenants, in an index whose keys consist of several attributes.

    pip install partita
    python saas.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `create(ticket)`, `move(ticket, status)` | write a ticket, change its status | 6 WCU |
| `ticket(tenant, number)` | one ticket | 0.5 RCU |
| `in_region(tenant, region)` | a tenant's tickets in a region, by status and priority | 13 RCU |
| `with_status(tenant, region, status)` | those with one status, by priority | 13 RCU |
| `urgent(tenant, region, status, priority)` | those with one status and a range of priorities | 13 RCU |
| `of_assignee(assignee, tenant)` | the tickets of one tenant that are assigned to a person | 13 RCU |

The partition key of the index consists of tenant and region, its sort key of status, priority and number. These are the
fields of the ticket, with their own types. They are not concatenated into key strings, so nothing is stored twice, and
`priority` sorts as a number.

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
    """A request by a customer of a tenant."""

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
    """Write a new ticket."""
    return insert(new)


@pattern(budget=Wcu(6))
def move(old: Ticket, status: str) -> Update[Ticket]:
    """Change the status of a ticket; the index follows, because the field itself is part of its key."""
    return update(old, f(Ticket.status).set(status))


@get(Ticket, budget=Rcu(0.5))
def ticket(tenant: str, number: int) -> None:
    """One ticket."""


@query(Ticket, Ticket.by_region, budget=Rcu(13))
def in_region(tenant: str, region: str) -> None:
    """A tenant's tickets in a region, by status and priority."""


@query(Ticket, Ticket.by_region, budget=Rcu(13))
def with_status(tenant: str, region: str, status: str) -> None:
    """A tenant's tickets in a region with one status, by priority."""


@query(Ticket, Ticket.by_region, budget=Rcu(13))
def urgent(tenant: str, region: str, status: str, priority: Span[int]) -> None:
    """A tenant's tickets in a region with one status and a range of priorities."""


@query(Ticket, Ticket.by_assignee, budget=Rcu(13))
def of_assignee(assignee: str, tenant: str) -> None:
    """The tickets of one tenant that are assigned to a person."""


EXPLAINED = urgent("acme", "eu", "open", Span.since(5))


def tell(db: Session) -> None:
    """Write three tickets, and print what the patterns return."""
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
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
