"""An adjacency list: invoices and the bills on them, read in both directions through an inverted index.

    pip install partita
    python graph.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `invoice_with_bills(invoice_id)` | an invoice and all bills on it, in one query of the table | 13 RCU |
| `bill_with_invoices(bill_id)` | a bill and all invoices that it is on, in one query of the index | 13 RCU |
| `add_invoice(invoice)`, `add_bill(bill)` | write a node | 4 WCU |
| `put_on(line)` | write an edge between two nodes that must exist | 16 WCU |

The key of a node has the node's name twice, as partition key and as sort key. The key of an edge has the names of both
nodes. The index swaps the two key attributes (`SK`, `PK`), so no further attributes are stored for it, and an edge can
be queried from either end.

It prints:

    invoice i1: b1 for 30, b2 for 12
    bill b1 is on: i1 for 30, i2 for 20
    a line to a bill that is not there: There is no such Bill.
    bill_with_invoices: Query on inverted
      predicted: 12.5 RCU (with items of 1,024 bytes)
      budget:    13 RCU
"""

from __future__ import annotations

from dataclasses import dataclass
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
    Wcu,
    check,
    collect,
    explain,
    get,
    insert,
    pattern,
    put,
    transact,
)
from partita.errors import TransactionCancelled
from partita.store import ConditionCheck, PutItem

TABLE = Table("invoices", indexes=[Index("inverted", hash="SK", range="PK")])
MANY = 99


class Invoice(Entity, table=TABLE):
    """An invoice: a node."""

    primary: ClassVar = Key("INVOICE#{invoice_id}", "INVOICE#{invoice_id}")

    invoice_id: str
    customer: str


class Bill(Entity, table=TABLE):
    """A bill: a node of another kind."""

    primary: ClassVar = Key("BILL#{bill_id}", "BILL#{bill_id}")
    inverted: ClassVar = Key("BILL#{bill_id}", "BILL#{bill_id}", index="inverted")

    bill_id: str
    total: int


class Line(Entity, table=TABLE):
    """An edge: the amount of a bill that is on an invoice."""

    primary: ClassVar = Key("INVOICE#{invoice_id}", "BILL#{bill_id}")
    inverted: ClassVar = Key("BILL#{bill_id}", "INVOICE#{invoice_id}", index="inverted")

    invoice_id: str
    bill_id: str
    amount: int


@dataclass(frozen=True)
class InvoiceWithBills:
    """An invoice with the lines on it."""

    invoice: Invoice
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class BillWithInvoices:
    """A bill with the lines that refer to it."""

    bill: Bill
    lines: tuple[Line, ...]


@collect(InvoiceWithBills, "INVOICE#{invoice_id}", limit=MANY, budget=Rcu(13))
def invoice_with_bills(invoice_id: str) -> None:
    """An invoice and all bills on it."""


@collect(BillWithInvoices, "BILL#{bill_id}", index="inverted", limit=MANY, budget=Rcu(13))
def bill_with_invoices(bill_id: str) -> None:
    """A bill and all invoices that it is on."""


@get(Invoice)
def invoice(invoice_id: str) -> None:
    """One invoice, to check that it exists."""


@get(Bill)
def bill(bill_id: str) -> None:
    """One bill, to check that it exists."""


@pattern(budget=Wcu(4))
def add_invoice(new: Invoice) -> Put[Invoice]:
    """Write a new invoice."""
    return insert(new)


@pattern(budget=Wcu(4))
def add_bill(new: Bill) -> Put[Bill]:
    """Write a new bill."""
    return insert(new)


@pattern(budget=Wcu(16), writes={Line: (PutItem,), Invoice: (ConditionCheck,), Bill: (ConditionCheck,)})
def put_on(line: Line) -> Transaction:
    """Put a bill on an invoice; both must exist."""
    return transact(check(invoice(line.invoice_id)), check(bill(line.bill_id)), put(line))


EXPLAINED = bill_with_invoices("b1")


def tell(db: Session) -> None:
    """Write two invoices and two bills, and print what the patterns return."""
    for invoice_id in ("i1", "i2"):
        db.run(add_invoice(Invoice(invoice_id=invoice_id, customer="ada")))
    for bill_id, total in (("b1", 50), ("b2", 12)):
        db.run(add_bill(Bill(bill_id=bill_id, total=total)))
    for invoice_id, bill_id, amount in (("i1", "b1", 30), ("i1", "b2", 12), ("i2", "b1", 20)):
        db.run(put_on(Line(invoice_id=invoice_id, bill_id=bill_id, amount=amount)))

    one = db.run(invoice_with_bills("i1"))
    assert one is not None
    print("invoice i1:", ", ".join(f"{line.bill_id} for {line.amount}" for line in one.lines))
    other = db.run(bill_with_invoices("b1"))
    assert other is not None
    print("bill b1 is on:", ", ".join(f"{line.invoice_id} for {line.amount}" for line in other.lines))
    try:
        db.run(put_on(Line(invoice_id="i1", bill_id="b9", amount=1)))
    except TransactionCancelled as cancelled:
        print("a line to a bill that is not there:", cancelled.cause)
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def main() -> None:
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
