"""The procedures of the Accounts service for accounts and grants, which a sync or an async session runs.

A procedure that writes an account returns a `Plan` with the writes and their result. All writes commit in one
transaction: the account, its ledger entry, its version, and the record of a request with an idempotency key.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from partita import Page, Procedure, Put
from partita.errors import ItemMissing, VersionConflict
from partita.operations import Action
from partita.recipes.idempotency import Plan
from partita.recipes.texts import VisibleText
from partita_services.accounts.access import Actor, NotAllowed, Right, is_for, reach
from partita_services.accounts.model import (
    Access,
    Account,
    AccountData,
    AccountId,
    AccountVersion,
    Balance,
    Entry,
    Grant,
    Kind,
    Name,
    UserId,
    accounts_by_pk,
    close_account,
    grants_on,
    grants_to,
    keep_version,
    open_account,
    remove_grant,
    save_account,
    write_grant,
)
from partita_services.accounts.movements import Money, Occasion, entered

MAX_SHARED: Final = 100
"""How many accounts of others are read for one page."""


class AccountContent(BaseModel):
    """The content of an account that a caller writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[Name, VisibleText()] = Field(examples=["Ada Lovelace"])
    balance: Annotated[Balance, Money] = Field(examples=[125_000], description="in minor units, such as cents")


class AccountDraft(AccountContent):
    """An account to open."""

    pk: AccountId = Field(examples=["acc-1001"])
    balance: Annotated[Balance, Money] = Field(
        default=0, examples=[125_000], description="in minor units, such as cents"
    )
    owner: Annotated[UserId, VisibleText()] | None = Field(
        default=None, examples=["ada"], description="the owner, if that is not the caller; for operators only"
    )


class GrantDraft(BaseModel):
    """What another user may do with an account."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    access: Access = Field(examples=["view"], description="`use` includes `view`, and allows moving money")


def add_account(draft: AccountDraft, occasion: Occasion) -> Plan[Account]:
    """Plan to open an account. The commit raises `AlreadyExists` if the key is taken.

    Raises:
        NotAllowed: the owner is someone else, and the caller is not an operator.
    """
    actor = occasion.actor
    owner = draft.owner or actor.user_id
    if owner != actor.user_id and not actor.is_operator:
        raise NotAllowed("Only operators may open accounts for others.")
    data = AccountData(
        pk=draft.pk, name=draft.name, balance=draft.balance, owner=owner, opened=int(occasion.now * 1_000)
    )
    write = open_account(data).at(occasion.now)
    saved = write.saved(occasion.now)
    return Plan(saved, write, _version(saved, actor), *_difference(saved, Kind.OPENING, draft.balance, occasion))


def replace_account(pk: str, content: AccountContent, last_write: int, occasion: Occasion) -> Procedure[Plan[Account]]:
    """Plan to replace the version that the caller has read. A different balance is recorded as an adjustment.

    Raises:
        ItemMissing: there is no such account, or the caller may not see it.
        NotAllowed: the caller does not own the account.
        VersionConflict: the account has changed since.
    """
    account = _unchanged((yield from reach(occasion.actor, pk, Right.OWN)), last_write)
    difference = content.balance - account.data.balance
    write = save_account(account.with_data(account.data.model_copy(update=content.model_dump()))).at(occasion.now)
    saved = write.saved(occasion.now)
    adjusted = _difference(saved, Kind.ADJUSTMENT, difference, occasion)
    return Plan(saved, write, _version(saved, occasion.actor), *adjusted)


def remove_account(pk: str, last_write: int, occasion: Occasion) -> Procedure[Plan[None]]:
    """Plan to close the version that the caller has read. The ledger stays, and adds up to zero.

    Raises:
        ItemMissing: there is no such account, or the caller may not see it.
        NotAllowed: the caller does not own the account.
        VersionConflict: the account has changed since.
    """
    account = _unchanged((yield from reach(occasion.actor, pk, Right.OWN)), last_write)
    paid_out = _difference(account, Kind.CLOSING, -account.data.balance, occasion)
    return Plan(None, close_account(pk, last_write), *paid_out)


def shared_accounts(user_id: str, limit: int, cursor: str | None) -> Procedure[Page[AccountData]]:
    """The accounts of others that a user may see or use, without those that were closed in the meantime.

    Owners may have a grant on an account of their own, which changes nothing for them.
    """
    page = yield from grants_to(user_id).page(min(limit, MAX_SHARED), after=cursor)
    if not page.items:
        return Page((), None)
    accounts = yield from accounts_by_pk([grant.account for grant in page])
    found = {account.pk: account for account in accounts if account is not None}
    granted = [(grant, found[grant.account]) for grant in page if grant.account in found]
    live = [data for grant, data in granted if grant.opened == (data.opened or 0) and data.owner != user_id]
    return Page(tuple(live), page.next_cursor)


def list_grants(pk: str, actor: Actor, limit: int, cursor: str | None) -> Procedure[Page[Grant]]:
    """The grants on an account, without those on an earlier account with the same key.

    Raises:
        ItemMissing: there is no such account, or the caller may not see it.
        NotAllowed: the caller does not own the account.
    """
    account = yield from reach(actor, pk, Right.OWN, consistent=False)
    page = yield from grants_on(pk).page(limit, after=cursor)
    return Page(tuple(grant for grant in page if is_for(grant, account)), page.next_cursor)


def grant_access(pk: str, user_id: str, draft: GrantDraft, occasion: Occasion) -> Procedure[Grant]:
    """Let another user see or use an account.

    Raises:
        ItemMissing: there is no such account, or the caller may not see it.
        NotAllowed: the caller does not own the account.
    """
    account = yield from reach(occasion.actor, pk, Right.OWN)
    grant = Grant(
        account=pk,
        user_id=user_id,
        opened=account.data.opened or 0,
        access=draft.access,
        granted_by=occasion.actor.user_id,
        granted_at=occasion.at,
    )
    return (yield from write_grant(grant))


def revoke_access(pk: str, user_id: str, actor: Actor) -> Procedure[None]:
    """Remove the grant of another user, or the caller's own grant.

    Raises:
        ItemMissing: there is no such account or grant, or the caller may not see the account.
        NotAllowed: the caller does not own the account.
    """
    account = yield from reach(actor, pk, Right.VIEW if user_id == actor.user_id else Right.OWN)
    removed = yield from remove_grant(pk, user_id)
    if removed is None or not is_for(removed, account):
        raise ItemMissing(f"{user_id!r} has no grant on the account {pk!r}.")


def _unchanged(account: Account, last_write: int) -> Account:
    if account.last_write != last_write:
        raise VersionConflict("The account has changed since you read it.", current=account)
    return account


def _version(account: Account, actor: Actor) -> Put[AccountVersion]:
    pk, opened = account.data.ledger
    data = account.data
    return keep_version(
        AccountVersion(
            account=pk,
            opened=opened,
            last_write=account.last_write,
            name=data.name,
            balance=data.balance,
            owner=data.owner,
            by=actor.user_id,
        )
    )


def _difference(account: Account, kind: Kind, amount: int, occasion: Occasion) -> tuple[Action, ...]:
    """The writes of the entry for a balance that was set, so that the ledger still adds up to the balance."""
    if not amount:
        return ()
    pk, opened = account.data.ledger
    return entered(
        Entry(
            account=pk,
            opened=opened,
            at=occasion.at,
            entry_id=occasion.entry_id,
            kind=kind,
            amount=amount,
            by=occasion.actor.user_id,
        )
    )
