"""What the Accounts service does, as procedures: they say which operations run, and either kind of session runs them.

What creates something or moves money is planned first: a `Plan` has the writes and their result, so that all of it
commits in one transaction, together with the record of the request where the caller gave it a key.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from partita import Operation, Procedure
from partita.errors import ItemMissing, LimitReached
from partita.recipes.idempotency import Plan
from partita_services.accounts.model import (
    ACCOUNTS,
    MAX_BALANCE,
    Account,
    AccountData,
    AccountId,
    Amount,
    Balance,
    Name,
    account_now,
    close_account,
    open_account,
    save_account,
)


class InsufficientFunds(LimitReached, code="insufficient_funds"):
    """An account has less than is to be taken from it."""


class AccountFull(LimitReached, code="account_full"):
    """An account cannot hold what is to be added to it."""


def _a_number(value: object) -> object:
    # Pydantic would take `true` and "5", too.
    if isinstance(value, bool | str):
        raise ValueError("money is a whole number of minor units")  # noqa: TRY004 - Pydantic takes ValueError
    return value


Money = BeforeValidator(_a_number)


class AccountContent(BaseModel):
    """What an account is to hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name = Field(examples=["Ada Lovelace"])
    balance: Annotated[Balance, Money] = Field(examples=[125_000], description="in minor units, such as cents")


class AccountDraft(AccountContent):
    """An account as it is given to be opened."""

    pk: AccountId = Field(examples=["acc-1001"])
    balance: Annotated[Balance, Money] = Field(
        default=0, examples=[125_000], description="in minor units, such as cents"
    )


class Movement(BaseModel):
    """Money that comes into an account or leaves it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    amount: Annotated[Amount, Money] = Field(examples=[2_500], description="in minor units, such as cents")


class TransferOrder(Movement):
    """Money that is to go from one account to another."""

    source: AccountId = Field(alias="from", examples=["acc-1001"])
    target: AccountId = Field(alias="to", examples=["acc-1002"])

    @field_validator("target")
    @classmethod
    def _two_accounts(cls, target: str, others: ValidationInfo) -> str:
        if target == others.data.get("source"):
            raise ValueError("from and to are the same account")
        return target


class Transfer(Struct, frozen=True):
    """Both accounts after a transfer."""

    source: Account
    target: Account
    amount: int


def show_account(pk: str, *, consistent: bool = False) -> Procedure[Account]:
    """One account; with `consistent`, by a strongly consistent read.

    Raises:
        ItemMissing: there is none.
    """
    return _present(pk, (yield from account_now(pk) if consistent else ACCOUNTS.read(pk)))


def add_account(draft: AccountDraft, now: float) -> Plan[Account]:
    """Open an account; `AlreadyExists` when it commits and the key is taken."""
    write = open_account(AccountData(**draft.model_dump())).at(now)
    return Plan(write.saved(now), write)


def replace_account(pk: str, content: AccountContent, last_write: int) -> Operation[Account]:
    """Write an account over the version that the caller has read; otherwise `VersionConflict`."""
    return save_account(ACCOUNTS.over(last_write, AccountData(pk=pk, **content.model_dump())))


def remove_account(pk: str, last_write: int) -> Operation[None]:
    """Delete the version of an account that the caller has read; otherwise `VersionConflict`."""
    return close_account(pk, last_write)


def deposit(pk: str, movement: Movement, now: float) -> Procedure[Plan[Account]]:
    """Add money to an account.

    Raises:
        ItemMissing: there is no such account.
        AccountFull: it cannot hold so much.
    """
    account = _present(pk, (yield from account_now(pk)))
    write = save_account(_with(account, movement.amount)).at(now)
    return Plan(write.saved(now), write)


def withdraw(pk: str, movement: Movement, now: float) -> Procedure[Plan[Account]]:
    """Take money out of an account, which never goes below zero.

    Raises:
        ItemMissing: there is no such account.
        InsufficientFunds: it has less.
    """
    account = _present(pk, (yield from account_now(pk)))
    write = save_account(_with(account, -movement.amount)).at(now)
    return Plan(write.saved(now), write)


def transfer(order: TransferOrder, now: float) -> Procedure[Plan[Transfer]]:
    """Move money from one account to another, in one transaction.

    Raises:
        ItemMissing: one of them does not exist.
        InsufficientFunds: the first has less.
        AccountFull: the second cannot hold so much.
    """
    source = _present(order.source, (yield from account_now(order.source)))
    target = _present(order.target, (yield from account_now(order.target)))
    taken = save_account(_with(source, -order.amount)).at(now)
    given = save_account(_with(target, order.amount)).at(now)
    return Plan(Transfer(taken.saved(now), given.saved(now), order.amount), taken, given)


def _present(pk: str, account: Account | None) -> Account:
    if account is None:
        raise ItemMissing(f"There is no account {pk!r}.")
    return account


def _with(account: Account, amount: int) -> Account:
    data = account.data
    balance = data.balance + amount
    if balance < 0:
        message = f"The account {data.pk!r} has {data.balance}, {-amount} are needed."
        raise InsufficientFunds(message, remaining=data.balance, current=account)
    if balance > MAX_BALANCE:
        room = MAX_BALANCE - data.balance
        raise AccountFull(f"The account {data.pk!r} can hold {room} more.", remaining=room, current=account)
    return account.with_data(data.model_copy(update={"balance": balance}))
