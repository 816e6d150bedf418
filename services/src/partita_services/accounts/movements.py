"""Moving money: each movement changes balances and writes their entries in one transaction.

A balance is changed by an amount, never replaced by a value computed from a read. So concurrent movements of one
account do not conflict. A movement is planned again only if the account was written in the same millisecond, and then
at most once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Struct
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from partita import Procedure, f
from partita.errors import ConditionFailed, LimitReached
from partita.operations import Action
from partita.recipes.idempotency import Plan
from partita.recipes.texts import VisibleText
from partita.recipes.versioned import VersionedAdjust
from partita_services.accounts.access import Actor, Right, no_account, reach
from partita_services.accounts.model import (
    MAX_BALANCE,
    Account,
    AccountData,
    AccountId,
    Amount,
    Entry,
    Kind,
    Memo,
    MonthTotal,
    account_now,
    add_to_month,
    move_money,
    write_entry,
)


class InsufficientFunds(LimitReached, code="insufficient_funds"):
    """The balance of an account is lower than the amount to withdraw."""


class AccountFull(LimitReached, code="account_full"):
    """The balance of an account would exceed the maximum."""


def _a_number(value: object) -> object:
    # Pydantic would accept `true` and "5", too.
    if isinstance(value, bool | str):
        raise ValueError("money is a whole number of minor units")  # noqa: TRY004 - Pydantic expects ValueError
    return value


Money = BeforeValidator(_a_number)


class Movement(BaseModel):
    """Money to move into an account or out of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    amount: Annotated[Amount, Money] = Field(examples=[2_500], description="in minor units, such as cents")
    memo: Annotated[Memo, VisibleText()] | None = Field(
        default=None, examples=["rent for May"], description="the purpose"
    )


class TransferOrder(Movement):
    """Money to move from one account to another."""

    source: AccountId = Field(alias="from", examples=["acc-1001"])
    target: AccountId = Field(alias="to", examples=["acc-1002"])

    @field_validator("target")
    @classmethod
    def _two_accounts(cls, target: str, others: ValidationInfo) -> str:
        if target == others.data.get("source"):
            raise ValueError("from and to are the same account")
        return target


class Occasion(Struct, frozen=True):
    """Who moves money, when, and with which entry id; the same for every try."""

    actor: Actor
    now: float
    entry_id: str

    @property
    def at(self) -> datetime:
        """The time as a `datetime`, as entries store it."""
        return datetime.fromtimestamp(self.now, UTC)


def deposit(pk: str, movement: Movement, occasion: Occasion) -> Procedure[Plan[Entry]]:
    """Plan to add money to an account.

    Raises:
        ItemMissing: there is no such account, or the caller may not see it.
        NotAllowed: the caller may only see it.
        AccountFull: the balance would exceed the maximum.
    """
    return (yield from _alone(pk, Kind.DEPOSIT, movement.amount, movement, occasion))


def withdraw(pk: str, movement: Movement, occasion: Occasion) -> Procedure[Plan[Entry]]:
    """Plan to withdraw money from an account, whose balance never goes below zero.

    Raises:
        ItemMissing: there is no such account, or the caller may not see it.
        NotAllowed: the caller may only see it.
        InsufficientFunds: the balance is too low.
    """
    return (yield from _alone(pk, Kind.WITHDRAWAL, -movement.amount, movement, occasion))


def transfer(order: TransferOrder, occasion: Occasion) -> Procedure[Plan[Entry]]:
    """Plan to move money from an account that the caller may use to any other; the result is the entry of the first.

    Raises:
        ItemMissing: one of them does not exist, or the caller may not see the first.
        NotAllowed: the caller may only see the first.
        InsufficientFunds: the balance of the first is too low.
        AccountFull: the balance of the second would exceed the maximum.
    """
    source = yield from reach(occasion.actor, order.source, Right.USE)
    target = yield from account_now(order.target)
    if target is None:
        raise no_account(order.target)
    sent = _entry(source, Kind.TRANSFER_OUT, -order.amount, occasion, order, order.target)
    received = _entry(target, Kind.TRANSFER_IN, order.amount, occasion, order, order.source)
    taken = moved(source, -order.amount, occasion.now)
    given = moved(target, order.amount, occasion.now, is_seen=False)
    # The receiver sees from which account the money came, but not which user sent it.
    return Plan(sent, taken, given, *entered(sent), *entered(received.model_copy(update={"by": None})))


def _alone(pk: str, kind: Kind, amount: int, movement: Movement, occasion: Occasion) -> Procedure[Plan[Entry]]:
    account = yield from reach(occasion.actor, pk, Right.USE)
    entry = _entry(account, kind, amount, occasion, movement)
    return Plan(entry, moved(account, amount, occasion.now), *entered(entry))


def moved(account: Account, amount: int, now: float, *, is_seen: bool = True) -> VersionedAdjust[AccountData]:
    """Return the write that adds an amount to a balance, or subtracts it if the amount is negative.

    Args:
        account: the account as it was read.
        amount: the change of the balance.
        now: the time of the write.
        is_seen: whether the caller may know the balance; only then errors include it.

    Raises:
        InsufficientFunds: the balance that was read is too low.
        AccountFull: the balance that was read would exceed the maximum.
    """
    if (problem := _out_of_bounds(account, amount, is_seen=is_seen)) is not None:
        raise problem
    balance = f(AccountData.balance)
    bounds = balance.ge(-amount) if amount < 0 else balance.le(MAX_BALANCE - amount)
    same = f(AccountData.opened).eq(account.data.opened)

    def explained(failed: ConditionFailed) -> ConditionFailed:
        current: Account = failed.current
        if current.data.opened != account.data.opened:
            return no_account(account.data.pk)
        return _out_of_bounds(current, amount, is_seen=is_seen) or failed

    return move_money(account, balance.add(amount)).when(bounds).when(same).failing_as(explained).at(now)


def entered(entry: Entry) -> tuple[Action, ...]:
    """The writes of an entry: the entry, and its addition to the total of the month."""
    numbers = MonthTotal(
        account=entry.account,
        opened=entry.opened,
        month=month_of(entry.at),
        entries=1,
        received=max(entry.amount, 0),
        spent=max(-entry.amount, 0),
    )
    return write_entry(entry), add_to_month(numbers)


def month_of(at: datetime) -> str:
    """The month of an instant, in UTC."""
    return f"{at:%Y-%m}"


def _entry(
    account: Account,
    kind: Kind,
    amount: int,
    occasion: Occasion,
    movement: Movement,
    counterpart: str | None = None,
) -> Entry:
    pk, opened = account.data.ledger
    return Entry(
        account=pk,
        opened=opened,
        at=occasion.at,
        entry_id=occasion.entry_id,
        kind=kind,
        amount=amount,
        by=occasion.actor.user_id,
        counterpart=counterpart,
        memo=movement.memo,
    )


def _out_of_bounds(account: Account, amount: int, *, is_seen: bool) -> LimitReached | None:
    data = account.data
    if data.balance + amount > MAX_BALANCE and not is_seen:
        return AccountFull(f"The account {data.pk!r} cannot hold that much more.", remaining=0)
    if data.balance + amount < 0:
        message = f"The balance of the account {data.pk!r} is {data.balance}, but {-amount} are needed."
        return InsufficientFunds(message, remaining=data.balance, current=account)
    if data.balance + amount > MAX_BALANCE:
        room = MAX_BALANCE - data.balance
        return AccountFull(f"The account {data.pk!r} can hold {room} more.", remaining=room, current=account)
    return None
