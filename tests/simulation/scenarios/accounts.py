"""Accounts: clients move money with idempotency keys, and retry without a response. Money is neither made nor lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from tests.simulation._kernel import START, Process
from tests.simulation._retrying import GaveUp, ask_again
from tests.simulation._world import World, expect

from partita import Procedure, Session, Table
from partita.errors import ConditionFailed
from partita.queue import QueuePolicy
from partita.recipes.idempotency import Command, Plan, StoredResponse, fingerprint, run_plan
from partita_services.accounts.access import Actor
from partita_services.accounts.bootstrap import SERVICE
from partita_services.accounts.handlers import (
    AccountContent,
    AccountDraft,
    add_account,
    remove_account,
    replace_account,
)
from partita_services.accounts.model import LEDGER_TABLE, REQUESTS, Account, Entry, account_now
from partita_services.accounts.movements import Movement, Occasion, TransferOrder, deposit, transfer, withdraw

ACCOUNTS: Final = tuple(f"acc-{number}" for number in range(4))
OPENING: Final = 1_000
CLIENTS: Final = 3
OPERATOR: Final = Actor("op", is_operator=True)


class Order(Struct, frozen=True):
    """One command of a client, with its own idempotency key, which is also the memo of the entries that it writes."""

    kind: str
    key: str
    source: str
    target: str
    amount: int


class Accounts:
    """The scenario `accounts`, with the responses that clients got."""

    tables: Sequence[Table] = SERVICE.tables
    queues: Mapping[str, QueuePolicy] = {}
    spared: Container[str] = ()

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        """The response that the client got, by the key of its command."""
        self.refused: set[str] = set()

    def start(self, world: World) -> None:
        """Open the accounts, and start the clients."""
        for number, pk in enumerate(ACCOUNTS):
            occasion = Occasion(OPERATOR, START, f"opening-{number}")
            world.truth.run(run_plan(add_account(AccountDraft(pk=pk, name=pk, balance=OPENING), occasion)))
        for number in range(CLIENTS):
            world.client(f"client-{number}", lambda process, number=number: self._live(world, process, number))  # type: ignore[misc]

    def _live(self, world: World, process: Process, number: int) -> None:
        session, count = world.session(process), 0
        while not world.is_calm:
            count += 1
            order = self._order(world, f"{number}-{count}")
            try:
                self._give(world, session, process, order)
                if world.random.random() < 0.2:
                    self._give(world, session, process, order)
            except GaveUp:
                pass
            world.kernel.sleep(world.random.uniform(0.0, 0.5))

    def _order(self, world: World, key: str) -> Order:
        kind = world.random.choice(("deposit", "withdraw", "transfer", "transfer", "transfer", "replace", "reopen"))
        source, target = world.random.sample(ACCOUNTS, 2)
        return Order(kind, key, source, target, world.random.randrange(1, 700))

    def _give(self, world: World, session: Session, process: Process, order: Order) -> None:
        command = Command("op", order.key, fingerprint(order.kind, order.key))
        count = 0

        def ask() -> str:
            nonlocal count
            count += 1
            occasion = Occasion(OPERATOR, process.clock(), f"{order.key}-{count}")
            outcome = session.run(REQUESTS.run(command, _plan(order, occasion), _response))
            return outcome.response.body

        try:
            body = ask_again(world, ask)
        except ConditionFailed:
            expect(order.key not in self.told, "the command {} was executed before, and is now refused", order.key)
            self.refused.add(order.key)
            return
        before = self.told.setdefault(order.key, body)
        expect(before == body, "the command {} returned {}, and then {}", order.key, before, body)

    def check(self, world: World) -> None:
        """Check that every balance is the sum of its entries and of its months, and no command was executed twice."""
        balances = {(item["pk"], item["opened"]): item["balance"] for item in world.items(SERVICE.tables[0])}
        sums, months, done = Counter[Any](), Counter[Any](), Counter[str]()
        for item in world.items(LEDGER_TABLE):
            ledger = item["account"], item["opened"]
            if "amount" in item:
                sums[ledger] += item["amount"]
                done[f"{item.get('memo')} {item['account']} {item['kind']}"] += "memo" in item
            elif "month" in item:
                months[ledger] += item["received"] - item["spent"]
        for ledger in balances.keys() | sums.keys():
            balance = balances.get(ledger, 0)
            expect(balance >= 0, "the balance of {} is negative: {}", ledger, balance)
            expect(sums[ledger] == balance, "balance of {}: {}, sum of entries: {}", ledger, balance, sums[ledger])
            expect(months[ledger] == balance, "balance of {}: {}, sum of months: {}", ledger, balance, months[ledger])
        expect(max(done.values(), default=0) <= 1, "a command was executed twice: {}", done.most_common(1))

    def is_settled(self, world: World) -> bool:
        """Whether all clients have ended."""
        return world.clients_are_done()

    def check_end(self, world: World) -> None:
        """Check that transfers add up to zero, and everything that was acknowledged to a client is in the ledger."""
        entries = [item for item in world.items(LEDGER_TABLE) if "amount" in item]
        moved = sum(item["amount"] for item in entries if item["kind"].startswith("transfer"))
        expect(moved == 0, "transfers add up to {} instead of 0", moved)
        memos = {item.get("memo") for item in entries}
        for key, body in self.told.items():
            expect(key in memos or "memo" not in body, "the acknowledged command {} is not in the ledger", key)


def _plan(order: Order, occasion: Occasion) -> Plan[Any] | Procedure[Plan[Any]]:
    movement = Movement(amount=order.amount, memo=order.key)
    if order.kind == "deposit":
        return deposit(order.source, movement, occasion)
    if order.kind == "withdraw":
        return withdraw(order.source, movement, occasion)
    if order.kind == "replace":
        return _replaced(order, occasion)
    if order.kind == "reopen":
        return _reopened(order, occasion)
    fields = {"from": order.source, "to": order.target, "amount": order.amount, "memo": order.key}
    return transfer(TransferOrder.model_validate(fields), occasion)


def _replaced(order: Order, occasion: Occasion) -> Procedure[Plan[Account]]:
    account = yield from account_now(order.source)
    content = AccountContent(name=order.key, balance=order.amount)
    return (yield from replace_account(order.source, content, account.last_write if account else 0, occasion))


def _reopened(order: Order, occasion: Occasion) -> Procedure[Plan[Any]]:
    """Close the account, or open it if it is closed."""
    account = yield from account_now(order.source)
    if account is None:
        return add_account(AccountDraft(pk=order.source, name=order.key, balance=order.amount), occasion)
    return (yield from remove_account(order.source, account.last_write, occasion))


def _response(result: Entry | Account | None) -> StoredResponse:
    if isinstance(result, Entry):
        return StoredResponse.of(result)
    return StoredResponse(body="closed" if result is None else f"{result.last_write} {result.data.balance}")
