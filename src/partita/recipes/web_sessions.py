"""Browser sessions: a random id in the cookie, its hash in the store, and an end after idle and after absolute time.

class LoginSession(WebSession, table=SESSIONS_TABLE):
    primary: ClassVar = Key("SESSION#{session_hash}", "META")
    by_user: ClassVar = Key("USER#{user_id}", "SESSION#{session_hash}", index="GSI1")

SESSIONS = WebSessions(LoginSession, idle=timedelta(hours=8), absolute=timedelta(days=7))

cookie = new_session_id()
db.run(SESSIONS.create(cookie, user_id="u1"))
session = db.run(SESSIONS.resolve(cookie))        # None once it has ended
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import ClassVar, Final, Generic, TypeVar

from msgspec import Struct

from partita.errors import ConditionFailed, ItemMissing, ModelError, OperationError, TransactionCancelled
from partita.model import Entity, EntitySchema, Key, f, schema_of, snake
from partita.operations import (
    BatchWrite,
    Context,
    Delete,
    Get,
    Operation,
    Procedure,
    Query,
    Requests,
    batch_write,
    delete,
    insert,
    transact,
    update,
)
from partita.patterns import declare_operation, get, query
from partita.recipes.records import check_complete, check_expires
from partita.recipes.removal import remove_all
from partita.store import BatchWriteItem, DeleteItem, GetItem, ItemResponse, PutItem, UpdateItem

__all__ = ["Create", "Resolve", "WebSession", "WebSessions", "new_session_id", "session_hash"]

S = TypeVar("S", bound="WebSession")

ID_BYTES: Final = 32
MIN_ID_LENGTH: Final = 22
"""So many characters of base 64 hold 128 bits."""


class WebSession(Entity):
    """Who is logged in. Subclass it with a table that has a TTL, a key of `session_hash`, and an index by `user_id`."""

    by_user: ClassVar[Key]

    session_hash: str
    """SHA-256 of the id: whoever reads the table cannot take a session over."""
    user_id: str
    created_at: int
    seen_at: int
    ttl: int


class _Ages(Struct, frozen=True):
    """How old a session may become, in seconds."""

    idle: int
    absolute: int
    touch_every: int

    def end(self, created_at: int, seen_at: int) -> int:
        """When a session ends if it is not seen again."""
        return min(seen_at + self.idle, created_at + self.absolute)


def new_session_id(random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """A new id for the browser's cookie, of 256 random bits."""
    return base64.urlsafe_b64encode(random_bytes(ID_BYTES)).rstrip(b"=").decode()


def session_hash(session_id: str) -> str:
    """What is stored of an id."""
    return hashlib.sha256(session_id.encode()).hexdigest()


class WebSessions(Generic[S]):
    """Browser sessions kept in an entity of the user's."""

    def __init__(
        self,
        record: type[S],
        *,
        idle: timedelta,
        absolute: timedelta,
        touch_every: timedelta = timedelta(minutes=1),
    ) -> None:
        """Declare that sessions are kept in `record`.

        Args:
            record: a subclass of `WebSession` with a table and keys.
            idle: a session ends when it was not seen for so long.
            absolute: a session ends so long after the login, however busy it is.
            touch_every: that a session was seen is written at most so often. It may end earlier by so much.

        Raises:
            ModelError: a key does not fit, sessions would not expire, or the times contradict each other.
        """
        self._schema = schema_of(record)
        check_complete(self._schema, WebSession)
        check_expires(self._schema)
        if self._schema.version is not None:
            raise ModelError(f"{self._schema.name} needs no version: who comes second changes nothing.", owner=record)
        if not timedelta(0) < touch_every < idle <= absolute:
            raise ModelError("A session needs 0 < touch_every < idle <= absolute.", owner=record)
        self._ages = _Ages(*(int(age.total_seconds()) for age in (idle, absolute, touch_every)))
        name = snake(self._schema.name)
        self._by_hash: Callable[[str], Get[S]] = get(
            record, name=f"{name}_by_hash", doc="A browser session.", parameters=["session_hash"]
        )
        self.of_user: Callable[[str], Query[S]] = query(
            record, record.by_user, name=f"{name}s_of_user", doc="A user's browser sessions.", parameters=["user_id"]
        )
        """A user's sessions, as for a page that lists them."""
        self._declare()

    def create(self, session_id: str, user_id: str) -> Create[S]:
        """Begin a session. Alone, or in a transaction with the end of the one that the browser had before.

        Raises:
            OperationError: the id is too short to be a secret.
        """
        return Create(self._schema, self._ages, _secret(session_id), user_id)

    def resolve(self, session_id: str) -> Resolve[S]:
        """The session of a cookie, and note that it was seen; None where it has ended or never was."""
        return Resolve(self._at(session_id), self._ages)

    def rotate(self, session_id: str, new_id: str) -> Procedure[S]:
        """Give a session a new id, and end the old one, in one transaction. Its age goes on.

        Raises:
            ItemMissing: the session has ended.
        """
        found = yield from Resolve(self._at(session_id), self._ages, touches=False)
        if found is None:
            raise _ended()
        renamed = found.model_copy(update={"session_hash": session_hash(_secret(new_id))})
        ended = delete(self._at(session_id)).when(f(self._schema.cls.session_hash).exists())
        try:
            yield from transact(insert(renamed), ended).labelled(f"{self._schema.name}.rotate")
        except TransactionCancelled as cancelled:
            if isinstance(cancelled.reasons[1].error, ItemMissing):
                raise _ended() from cancelled
            raise
        return renamed

    def end(self, session_id: str) -> Delete[S]:
        """End a session, as at logout. It is not an error where the session has ended already."""
        return delete(self._at(session_id)).labelled(f"{self._schema.name}.end")

    def end_all(self, user_id: str) -> Procedure[int]:
        """End all sessions of a user, expired ones too; how many there were. Interrupted, it can run again."""
        return (yield from remove_all(self.of_user(user_id), self._end_batch))

    def _end_batch(self, ended: Sequence[Delete[S]]) -> BatchWrite:
        return batch_write(ended).labelled(f"{self._schema.name}.end_all")

    def _declare(self) -> None:
        schema = self._schema
        declare_operation(schema, "create", "A session begins.", PutItem)
        declare_operation(schema, "resolve", "The session of a cookie.", GetItem, UpdateItem)
        declare_operation(schema, "rotate", "A session gets a new id.", PutItem, DeleteItem)
        declare_operation(schema, "end", "A session ends.", DeleteItem)
        declare_operation(schema, "end_all", "All sessions of a user end.", BatchWriteItem)

    def _at(self, session_id: str) -> Get[S]:
        return self._by_hash(session_hash(session_id)).consistent()


class Create(Operation[S], Generic[S], frozen=True):
    """Begin a session."""

    schema: EntitySchema[S]
    ages: _Ages
    session_id: str
    user_id: str

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.schema.name}.create"

    def session(self, context: Context) -> S:
        """The session that begins now."""
        now = int(context.clock())
        return self.schema.cls(
            session_hash=session_hash(self.session_id),
            user_id=self.user_id,
            created_at=now,
            seen_at=now,
            ttl=self.ages.end(now, now),
        )

    def action(self, context: Context) -> PutItem:
        """The request that is sent, alone or in a transaction."""
        return insert(self.session(context)).action(context)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this session."""
        return insert(self.session(context)).explain(error, context)

    def requests(self, context: Context) -> Requests[S]:
        """Send the request."""
        return (yield from insert(self.session(context)).requests(context))


class Resolve(Operation[S | None], Generic[S], frozen=True):
    """Read a session; where it was last seen some time ago, note that it was seen now."""

    at: Get[S]
    ages: _Ages
    touches: bool = True

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.at.schema.name}.resolve"

    def requests(self, context: Context) -> Requests[S | None]:
        """One read, and an update now and then."""
        response: ItemResponse = yield self.at.request()
        found = self.at.result(response.item, context)
        now = int(context.clock())
        # The ages are looked at again: they may be shorter now than when the TTL was written.
        if found is None or self.ages.end(found.created_at, found.seen_at) <= now:
            return None
        if not self.touches or now - found.seen_at < self.ages.touch_every:
            return found
        record = self.at.schema.cls
        ttl = self.ages.end(found.created_at, now)
        try:
            return (yield from update(self.at, f(record.seen_at).set(now), f(record.ttl).set(ttl)).requests(context))
        except ItemMissing:
            return None  # it ended in between


def _secret(session_id: str) -> str:
    if len(session_id) < MIN_ID_LENGTH:
        raise OperationError("This session id is too short to be a secret.", hint="Use new_session_id().")
    return session_id


def _ended() -> ItemMissing:
    return ItemMissing("The session has ended.", hint="Log in again.")
