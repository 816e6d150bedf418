"""An online shop: carts, orders with their lines, and stock that is never sold twice.

    pip install partita
    python shop.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `put_into_cart(customer, sku)` | add one of a product, in one request, whether it is in the cart or not | 1 WCU |
| `cart_of(customer)` | the products in a cart | 13 RCU |
| `place(order, lines)` | write the order and its lines, and reduce the stock: all or nothing | 60 WCU |
| `order_page(order_id)` | an order with its lines, in one query | 13 RCU |
| `orders_of(customer)` | a customer's orders, newest first | 13 RCU |
| `to_be_sent()` | orders that have not been sent, oldest first | 13 RCU |
| `send(order, at)` | mark an order as sent, which removes it from that list | 4 WCU |
| `product(sku)` | a product with its remaining stock | 0.5 RCU |

An order and its lines share a partition. An order is in the index of orders to be sent until it is sent; this follows
from `sent_at`, so there is no second field to keep in step. The stock is a counter with a floor, so two customers
cannot both buy the last item.

It prints:

    in the cart: 2 x pen, 1 x ink
    order o1: 2 x pen, 1 x ink
    pens left: 1
    refused: 2 of Product.stock requested, 1 left.
    to be sent: o1
    after sending: nothing
    ada's orders: o1
    order_page: Query on the table
      predicted: 12.5 RCU (with items of 1,024 bytes)
      budget:    13 RCU
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Rcu,
    Session,
    Table,
    Transaction,
    Update,
    Upsert,
    Wcu,
    collect,
    explain,
    f,
    get,
    insert,
    pattern,
    put,
    query,
    transact,
    update,
    upsert,
)
from partita.errors import TransactionCancelled
from partita.recipes.counter import Counter
from partita.store import PutItem, UpdateItem

TABLE = Table("shop", indexes=[Index("GSI1"), Index("GSI2")])
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def is_waiting(sent_at: datetime | None) -> bool:
    """Whether an order has not been sent yet."""
    return sent_at is None


class Product(Entity, table=TABLE):
    """A product, with its remaining stock."""

    primary: ClassVar = Key("PRODUCT#{sku}", "PRODUCT")

    sku: str
    stock: int


class InCart(Entity, table=TABLE):
    """A product in a customer's cart, and how many of it."""

    primary: ClassVar = Key("CART#{customer}", "PRODUCT#{sku}")

    customer: str
    sku: str
    count: int = 0


class Order(Entity, table=TABLE):
    """An order of a customer."""

    primary: ClassVar = Key("ORDER#{order_id}", "ORDER")
    by_customer: ClassVar = Key("CUSTOMER#{customer}", "{placed_at}", index="GSI1")
    waiting: ClassVar = Key("WAITING", "{placed_at}#{order_id}", index="GSI2", when=is_waiting)

    order_id: str
    customer: str
    placed_at: datetime
    sent_at: datetime | None = None


class Line(Entity, table=TABLE):
    """A line of an order: a product, and how many of it."""

    primary: ClassVar = Key("ORDER#{order_id}", "LINE#{sku}")

    order_id: str
    sku: str
    count: int


@dataclass(frozen=True)
class OrderPage:
    """An order with its lines."""

    order: Order
    lines: tuple[Line, ...]


@get(Product, budget=Rcu(0.5))
def product(sku: str) -> None:
    """A product with its remaining stock."""


@get(InCart)
def in_cart(customer: str, sku: str) -> None:
    """A product in a cart, to change its count."""


@query(InCart, InCart.primary, budget=Rcu(13))
def cart_of(customer: str) -> None:
    """The products in a cart."""


@pattern(budget=Wcu(1))
def put_into_cart(customer: str, sku: str) -> Upsert[InCart]:
    """Add one of a product to a cart."""
    return upsert(in_cart(customer, sku), f(InCart.count).add(1))


STOCK = Counter(Product, f(Product.stock), floor=0)


@pattern(budget=Wcu(60), writes={Order: (PutItem,), Line: (PutItem,), Product: (UpdateItem,)})
def place(order: Order, lines: Sequence[Line]) -> Transaction:
    """Place an order: write it and its lines, and reduce the stock, or do nothing."""
    taken = [STOCK.down(product(line.sku), line.count) for line in lines]
    return transact(insert(order), *(put(line) for line in lines), *taken)


@collect(OrderPage, "ORDER#{order_id}", limit=99, budget=Rcu(13))
def order_page(order_id: str) -> None:
    """An order with its lines."""


@query(Order, Order.by_customer, newest_first=True, budget=Rcu(13))
def orders_of(customer: str) -> None:
    """A customer's orders, newest first."""


@query(Order, Order.waiting, budget=Rcu(13))
def to_be_sent() -> None:
    """Orders that have not been sent, oldest first."""


@pattern(budget=Wcu(4))
def send(order: Order, at: datetime) -> Update[Order]:
    """Mark an order as sent."""
    return update(order, f(Order.sent_at).set(at))


EXPLAINED = order_page("o1")


def tell(db: Session) -> None:
    """Sell pens and ink, and print what the patterns return."""
    for sku, stock in (("pen", 3), ("ink", 5)):
        db.run(insert(Product(sku=sku, stock=stock)))
    for sku in ("pen", "ink", "pen"):
        db.run(put_into_cart("ada", sku))
    cart = sorted(db.run(cart_of("ada")), key=lambda each: -each.count)
    print("in the cart:", ", ".join(f"{each.count} x {each.sku}" for each in cart))

    order = Order(order_id="o1", customer="ada", placed_at=NOON)
    db.run(place(order, [Line(order_id="o1", sku=each.sku, count=each.count) for each in cart]))
    page = db.run(order_page("o1"))
    assert page is not None
    print("order o1:", ", ".join(f"{line.count} x {line.sku}" for line in reversed(page.lines)))
    pen = db.run(product("pen"))
    print("pens left:", pen.stock if pen else 0)

    try:
        second = Order(order_id="o2", customer="ben", placed_at=NOON)
        db.run(place(second, [Line(order_id="o2", sku="pen", count=2)]))
    except TransactionCancelled as cancelled:
        print("refused:", cancelled.cause)
    print("to be sent:", ", ".join(each.order_id for each in db.run(to_be_sent())))
    db.run(send(page.order, NOON))
    print("after sending:", ", ".join(each.order_id for each in db.run(to_be_sent())) or "nothing")
    print("ada's orders:", ", ".join(each.order_id for each in db.run(orders_of("ada"))))
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def main() -> None:
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
