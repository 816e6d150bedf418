"""Erasing users: removes their rows from the lake, and all files and statistics that still contain them.

An item of the record entity states which user was erased, and when. All older rows of that user are removed from the
lake, and after them the rows of the record itself. So the record's current table lists the erasures still to be done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct

from partita.change.lake._columns import Column, json_text
from partita.change.lake._delta import LakeTable, retry_commit
from partita.change.lake._location import LakeLocation
from partita.model import EntitySchema

_USER: Final = "user_id"
_AT: Final = "erased_at"


class LakeErasure(Struct, frozen=True):
    """The entities by which a lake finds the users to erase, and their rows."""

    record: str
    """The entity whose items record that a user was erased, with `user_id` and `erased_at`."""
    owners: Mapping[str, str]
    """For each entity whose items are erased, the name of the field that contains the user."""


class ErasedUser(Struct, frozen=True):
    """A user whose rows are erased: all rows that the lake had of the user at an instant."""

    user_id: str
    until: int
    """In seconds since the epoch."""


class OwnedRows(Struct, frozen=True):
    """The rows of one entity, and the columns that identify their owner."""

    schema: EntitySchema[Any]
    owner: str
    table: LakeTable
    columns: Sequence[Column]
    in_log: Sequence[Column]

    def current(self, user: ErasedUser) -> str:
        """Return the condition on its current table: removed items of the user."""
        return f"_deleted AND ({self._is_owned(user.user_id, self.columns)})"

    def logged(self, user: ErasedUser) -> str:
        """Return the condition on the log: changes until the user was erased."""
        until = f"CAST(_at AS BIGINT) < {(user.until + 1) * 1_000_000}"
        return f"entity = {_text(self.schema.name)} AND {until} AND ({self._is_owned(user.user_id, self.in_log)})"

    def _is_owned(self, user_id: str, columns: Sequence[Column]) -> str:
        column = next(column.name for column in columns if column.field == self.owner)
        named = f'"{column}" = {_text(user_id)}'
        key = self._key_of(user_id)
        return named if key is None else f"{named} OR starts_with(_key, {_text(key)})"

    def _key_of(self, user_id: str) -> str | None:
        """Return the key prefix of the user's items, even invalid ones; None if the partition key is not the user."""
        key = self.schema.primary
        if key.hash_fields != (self.owner,):
            return None
        values = [template.render([user_id]) for _, template in key.hash]
        return f"{json_text(values)[:-1]},"


def pending(record: LakeTable) -> list[ErasedUser]:
    """Return the users whose rows are still to be erased."""
    latest: dict[str, int] = {}
    for row in record.rows([_USER, _AT]):
        latest[row[_USER]] = max(row[_AT], latest.get(row[_USER], 0))
    return [ErasedUser(user_id, until) for user_id, until in latest.items()]


def erase_rows(
    location: LakeLocation,
    users: Sequence[ErasedUser],
    rows: Sequence[OwnedRows],
    record: OwnedRows,
    log: LakeTable,
) -> None:
    """Erase users: first their rows, last the record of the erasure, so that an interrupted erasure is repeated."""
    for user in users:
        for owned in rows:
            retry_commit(location, partial(owned.table.delete, owned.current(user)))
            retry_commit(location, partial(log.delete, owned.logged(user)))
    for table in (*(owned.table for owned in rows), log):
        retry_commit(location, table.purge)
    for user in users:
        named = f"{_USER} = {_text(user.user_id)}"
        retry_commit(location, partial(log.delete, f"entity = {_text(record.schema.name)} AND {named}"))
        retry_commit(location, partial(record.table.delete, named))
    retry_commit(location, log.purge)
    retry_commit(location, record.table.purge)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
