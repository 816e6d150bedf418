"""Browser sessions: a random id in the cookie, its hash in the store, and an idle and an absolute timeout.

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
"""The number of base64 characters that hold 128 bits."""


class WebSession(Entity):
    """A sign-in. Subclass it with a table that has a TTL, a key of `session_hash`, and an index by `user_id`."""

    by_user: ClassVar[Key]

    session_hash: str
    """SHA-256 of the id, so that a reader of the table cannot take over a session."""
    user_id: str
    created_at: int
    seen_at: int
    ttl: int


class _Ages(Struct, frozen=True):
    """The timeouts of a session, in seconds."""

    idle: int
    absolute: int
    touch_every: int

    def end(self, created_at: int, seen_at: int) -> int:
        """The time at which a session ends if it is not used again."""
        return min(seen_at + self.idle, created_at + self.absolute)


def new_session_id(random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """A new id for the browser's cookie, of 256 random bits."""
    return base64.urlsafe_b64encode(random_bytes(ID_BYTES)).rstrip(b"=").decode()


def session_hash(session_id: str) -> str:
    """The hash of an id, as it is stored."""
    return hashlib.sha256(session_id.encode()).hexdigest()


class WebSessions(Generic[S]):
    """Browser sessions stored in an entity of the application."""

    def __init__(
        self,
        record: type[S],
        *,
        idle: timedelta,
        absolute: timedelta,
        touch_every: timedelta = timedelta(minutes=1),
    ) -> None:
        """Declare that sessions are stored in `record`.

        Args:
            record: a subclass of `WebSession` with a table and keys.
            idle: a session ends after this time without use.
            absolute: a session ends this long after the sign-in, even if it is in use.
            touch_every: the use of a session is recorded at most this often, so it may end earlier by this much.

        Raises:
            ModelError: a key does not fit, sessions would not expire, or the times contradict each other.
        """
        self._schema = schema_of(record)
        check_complete(self._schema, WebSession)
        check_expires(self._schema)
        if self._schema.version is not None:
            raise ModelError(f"{self._schema.name} must have no version: write conflicts are harmless.", owner=record)
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
        """A user's sessions, for example for a page that lists them."""
        self._declare()

    def create(self, session_id: str, user_id: str) -> Create[S]:
        """Start a session. Alone, or in a transaction with the end of the browser's previous session.

        Raises:
            OperationError: the id is too short to be a secret.
        """
        return Create(self._schema, self._ages, _secret(session_id), user_id)

    def resolve(self, session_id: str) -> Resolve[S]:
        """Return the session of a cookie, and record its use; None if it has ended or never existed."""
        return Resolve(self._at(session_id), self._ages)

    def rotate(self, session_id: str, new_id: str) -> Procedure[S]:
        """Give a session a new id, and end the old one, in one transaction. Its age is kept.

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
        """End a session, for example at sign-out. It is not an error if the session has already ended."""
        return delete(self._at(session_id)).labelled(f"{self._schema.name}.end")

    def end_all(self, user_id: str) -> Procedure[int]:
        """End all sessions of a user, including expired ones; return their number. It can run again after a failure."""
        return (yield from remove_all(self.of_user(user_id), self._end_batch))

    def _end_batch(self, ended: Sequence[Delete[S]]) -> BatchWrite:
        return batch_write(ended).labelled(f"{self._schema.name}.end_all")

    def _declare(self) -> None:
        schema = self._schema
        declare_operation(schema, "create", "Start a session.", PutItem)
        declare_operation(schema, "resolve", "Get the session of a cookie.", GetItem, UpdateItem)
        declare_operation(schema, "rotate", "Give a session a new id.", PutItem, DeleteItem)
        declare_operation(schema, "end", "End a session.", DeleteItem)
        declare_operation(schema, "end_all", "End all sessions of a user.", BatchWriteItem)

    def _at(self, session_id: str) -> Get[S]:
        return self._by_hash(session_hash(session_id)).consistent()


class Create(Operation[S], Generic[S], frozen=True):
    """Start a session."""

    schema: EntitySchema[S]
    ages: _Ages
    session_id: str
    user_id: str

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.create"

    def session(self, context: Context) -> S:
        """The session that starts now."""
        now = int(context.clock())
        return self.schema.cls(
            session_hash=session_hash(self.session_id),
            user_id=self.user_id,
            created_at=now,
            seen_at=now,
            ttl=self.ages.end(now, now),
        )

    def action(self, context: Context) -> PutItem:
        """The request to send, alone or in a transaction."""
        return insert(self.session(context)).action(context)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this session."""
        return insert(self.session(context)).explain(error, context)

    def requests(self, context: Context) -> Requests[S]:
        """Send the request."""
        return (yield from insert(self.session(context)).requests(context))


class Resolve(Operation[S | None], Generic[S], frozen=True):
    """Read a session; if its last recorded use is older than `touch_every`, record its use."""

    at: Get[S]
    ages: _Ages
    touches: bool = True

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.at.schema.name}.resolve"

    def requests(self, context: Context) -> Requests[S | None]:
        """Send one read, and sometimes an update."""
        response: ItemResponse = yield self.at.request()
        found = self.at.result(response.item, context)
        now = int(context.clock())
        # The timeouts are checked again: they may be shorter now than when the TTL was written.
        if found is None or self.ages.end(found.created_at, found.seen_at) <= now:
            return None
        if not self.touches or now - found.seen_at < self.ages.touch_every:
            return found
        record = self.at.schema.cls
        ttl = self.ages.end(found.created_at, now)
        try:
            return (yield from update(self.at, f(record.seen_at).set(now), f(record.ttl).set(ttl)).requests(context))
        except ItemMissing:
            return None  # it ended in the meantime


def _secret(session_id: str) -> str:
    if len(session_id) < MIN_ID_LENGTH:
        raise OperationError("This session id is too short to be a secret.", hint="Use new_session_id().")
    return session_id


def _ended() -> ItemMissing:
    return ItemMissing("The session has ended.", hint="Sign in again.")
