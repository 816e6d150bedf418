"""Erasing users: their rows leave the lake, with all files and statistics that still have them.

An item of the record's entity says that a user was erased, and when. Whatever the lake has of that user from before
goes, and then the record's own rows. What is left to do is therefore what the record's current table has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from partita.change.lake._columns import Column, json_text
from partita.change.lake._delta import CommitConflict, LakeTable
from partita.errors import StoreBusy
from partita.model import EntitySchema

_USER: Final = "user_id"
_AT: Final = "erased_at"
_TRIES: Final = 50


class LakeErasure(Struct, frozen=True):
    """How a lake learns whom to erase, and where their rows are."""

    record: str
    """The entity whose items say that a user was erased, by `user_id` and `erased_at`."""
    owners: Mapping[str, str]
    """The field that names a user, by the name of each entity whose items are erased."""


class ErasedUser(Struct, frozen=True):
    """A user whose rows go: all that the lake had of them at an instant."""

    user_id: str
    until: int
    """In seconds since the epoch."""


class OwnedRows(Struct, frozen=True):
    """The rows of one entity, and the columns that say whose they are."""

    schema: EntitySchema[Any]
    owner: str
    table: LakeTable
    columns: Sequence[Column]
    in_log: Sequence[Column]

    def current(self, user: ErasedUser) -> str:
        """The condition on its current table: removed items of the user."""
        return f"_deleted AND ({self._is_owned(user.user_id, self.columns)})"

    def logged(self, user: ErasedUser) -> str:
        """The condition on the log: changes until the user was erased."""
        until = f"CAST(_at AS BIGINT) < {(user.until + 1) * 1_000_000}"
        return f"entity = {_text(self.schema.name)} AND {until} AND ({self._is_owned(user.user_id, self.in_log)})"

    def _is_owned(self, user_id: str, columns: Sequence[Column]) -> str:
        column = next(column.name for column in columns if column.field == self.owner)
        named = f'"{column}" = {_text(user_id)}'
        key = self._key_of(user_id)
        return named if key is None else f"{named} OR starts_with(_key, {_text(key)})"

    def _key_of(self, user_id: str) -> str | None:
        """How the keys of a user's items begin, where the partition is theirs: also of what did not fit its entity."""
        key = self.schema.primary
        if key.hash_fields != (self.owner,):
            return None
        values = [template.render([user_id]) for _, template in key.hash]
        return f"{json_text(values)[:-1]},"


def pending(record: LakeTable) -> list[ErasedUser]:
    """The users whose rows are still to be erased."""
    latest: dict[str, int] = {}
    for row in record.rows([_USER, _AT]):
        latest[row[_USER]] = max(row[_AT], latest.get(row[_USER], 0))
    return [ErasedUser(user_id, until) for user_id, until in latest.items()]


def erase_rows(users: Sequence[ErasedUser], rows: Sequence[OwnedRows], record: OwnedRows, log: LakeTable) -> None:
    """Erase users: first their rows, last what says that this is to be done. Cut off, it is done again."""
    for user in users:
        for owned in rows:
            _through(owned.table.delete, owned.current(user))
            _through(log.delete, owned.logged(user))
    for table in _tables(rows, log):
        _through(table.purge)
    for user in users:
        named = f"{_USER} = {_text(user.user_id)}"
        _through(log.delete, f"entity = {_text(record.schema.name)} AND {named}")
        _through(record.table.delete, named)
    _through(log.purge)
    _through(record.table.purge)


def _through(act: Callable[..., None], *given: str) -> None:
    """Do something that may be done twice, until no other writer is faster."""
    for _ in range(_TRIES):
        try:
            return act(*given)
        except CommitConflict:
            continue
    raise StoreBusy("Too many writers fill the lake at once.", hint="Run fewer of them.")


def _tables(rows: Sequence[OwnedRows], log: LakeTable) -> Iterator[LakeTable]:
    yield from (owned.table for owned in rows)
    yield log


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
