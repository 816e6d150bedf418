"""Who may do what with an account: its owner and operators all, others what was granted; the rest do not see it."""

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
    """The caller may see the account, but not do this with it."""


class Right(IntEnum):
    """What someone may do with an account; each right includes those before it."""

    VIEW = 1
    USE = 2
    OWN = 3


class Actor(Struct, frozen=True):
    """Who asks."""

    user_id: str
    is_operator: bool = False


PERSONAL: Final = PersonalData(
    PersonalItems("grants", grants_to, delete=delete_grants),
    PersonalItems(
        "accounts",
        accounts_of,
        owner="owner",
        fields=("name",),
        stays="An account has money, and is closed by its owner. Its ledger is kept, as bookkeeping is.",
    ),
    mentions={Entry: ("by", "memo"), AccountVersion: ("name", "owner", "by"), Grant: ("granted_by",)},
)
"""What is kept of a user: the accounts that are theirs, and what others have let them see."""

RIGHTS = {Access.VIEW: Right.VIEW, Access.USE: Right.USE}


def reach(actor: Actor, pk: str, right: Right = Right.VIEW, *, consistent: bool = True) -> Procedure[Account]:
    """An account that someone has a right to.

    Raises:
        ItemMissing: there is none, or they may not even see it.
        NotAllowed: they may see it, and no more.
    """
    account, has = yield from reach_with_right(actor, pk, consistent=consistent)
    if has < right:
        raise NotAllowed(f"You may see the account {pk!r}, but not do this with it.", hint="Ask its owner.")
    return account


def reach_with_right(actor: Actor, pk: str, *, consistent: bool = True) -> Procedure[tuple[Account, Right]]:
    """An account that someone may see, and what else they may do with it.

    Raises:
        ItemMissing: there is none, or they may not even see it.
    """
    account = yield from (account_now(pk) if consistent else ACCOUNTS.read(pk))
    if account is None:
        raise no_account(pk)
    if actor.is_operator or account.data.owner == actor.user_id:
        return account, Right.OWN
    grant = yield from grant_of(pk, actor.user_id)
    if grant is None or not is_for(grant, account):
        raise no_account(pk)
    return account, RIGHTS[grant.access]


def is_for(grant: Grant, account: Account) -> bool:
    """Whether a grant is for this account, and not for an earlier one with the same key."""
    return grant.opened == (account.data.opened or 0)


def no_account(pk: str) -> ItemMissing:
    """The error for an account that is not there, or that the caller may not see."""
    return ItemMissing(f"There is no account {pk!r}.")
