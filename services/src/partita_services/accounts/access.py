"""Access to accounts: owners and operators may do everything, others what was granted; nobody else sees an account."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from msgspec import Struct

from partita import Procedure
from partita.errors import ItemMissing, OperationError
from partita.recipes.personal import PersonalData, PersonalItems
from partita_services.accounts.model import (
    ACCOUNTS,
    Access,
    Account,
    AccountVersion,
    Entry,
    Grant,
    account_now,
    accounts_of,
    delete_grants,
    grant_of,
    grants_to,
)


class NotAllowed(OperationError, code="not_allowed"):
    """The caller may see the account, but may not do this with it."""


class Right(IntEnum):
    """What a user may do with an account; each right includes the ones before it."""

    VIEW = 1
    USE = 2
    OWN = 3


class Actor(Struct, frozen=True):
    """The user who makes a request."""

    user_id: str
    is_operator: bool = False


PERSONAL: Final = PersonalData(
    PersonalItems("grants", grants_to, delete=delete_grants),
    PersonalItems(
        "accounts",
        accounts_of,
        owner="owner",
        fields=("name",),
        stays="An account holds money, and only its owner closes it. Its ledger is kept for bookkeeping.",
    ),
    mentions={Entry: ("by", "memo"), AccountVersion: ("name", "owner", "by"), Grant: ("granted_by",)},
    queues=False,
)
"""The stored data of a user: the accounts that they own, and the grants that they received."""

RIGHTS = {Access.VIEW: Right.VIEW, Access.USE: Right.USE}


def reach(actor: Actor, pk: str, right: Right = Right.VIEW, *, consistent: bool = True) -> Procedure[Account]:
    """Return an account to which the user has the given right.

    Raises:
        ItemMissing: it does not exist, or the user may not see it.
        NotAllowed: the user may see it, but has a lesser right.
    """
    account, has = yield from reach_with_right(actor, pk, consistent=consistent)
    if has < right:
        raise NotAllowed(f"You may see the account {pk!r}, but not do this with it.", hint="Ask its owner for access.")
    return account


def reach_with_right(actor: Actor, pk: str, *, consistent: bool = True) -> Procedure[tuple[Account, Right]]:
    """Return an account that the user may see, and the user's right.

    Raises:
        ItemMissing: it does not exist, or the user may not see it.
    """
    account = yield from (account_now(pk) if consistent else ACCOUNTS.read(pk))
    if account is None:
        raise no_account(pk)
    if actor.is_operator or account.data.owner == actor.user_id:
        return account, Right.OWN
    stored = grant_of(pk, actor.user_id)
    grant = yield from (stored.consistent() if consistent else stored)
    if grant is None or not is_for(grant, account):
        raise no_account(pk)
    return account, RIGHTS[grant.access]


def is_for(grant: Grant, account: Account) -> bool:
    """Whether a grant is for this account, not for an earlier one with the same key."""
    return grant.opened == (account.data.opened or 0)


def no_account(pk: str) -> ItemMissing:
    """The error for an account that does not exist, or that the caller may not see."""
    return ItemMissing(f"There is no account {pk!r}.")
