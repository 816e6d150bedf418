"""The outbox itself: messages are stored in the table until they are in the queue."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Generator
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar
from zlib import crc32

import msgspec

from partita.errors import ModelError
from partita.model import Budget, Entity, Key, schema_of, snake
from partita.operations import Delete, Operation, Put, Query, batch_write, insert
from partita.patterns import declare_operation, query
from partita.queue import Body, BodyDecoder, Queue, Send, encode_body
from partita.recipes.records import check_complete
from partita.runtime import new_ulid, run, run_async
from partita.session import AsyncSession, Session
from partita.store import BatchWriteItem

M = TypeVar("M", bound="OutboxRecord")

PAGE: Final = 25
"""The number of messages that one batch deletes."""
MAX_FORWARDED: Final = 1_000
"""How many messages of a shard one call forwards at most, so that a worker can do other work in between."""

_GROUP: Final = re.compile(r"[!-~]{1,128}")
"""The group names that a queue accepts."""

Forwarding: TypeAlias = Generator[Operation[Any] | Send, Any, int]


class OutboxRecord(Entity):
    """A message waiting in the table. Subclass it with a table, and a key of `shard` and then `message_id`."""

    primary: ClassVar[Key]
    in_lake: ClassVar = False

    shard: int
    message_id: str
    """Sorts by the time of writing, and is the same in every delivery of the message."""
    group: str
    """The group of the message: messages of a group are delivered in the order in which they were written."""
    written_at: int
    """In seconds since the epoch."""
    body: str
    """JSON that includes its kind and version."""


class OutboxMessage(Body, frozen=True):
    """A message in the queue, on its way to the sender."""

    kind = "outbox_message"

    message_id: str
    """The same in every delivery of the message, so that a sender can detect a repetition."""
    group: str
    written_at: int
    content: dict[str, Any]
    """The content as written: `{"v": 1, "kind": …}` and the fields of its body."""

    def read(self, bodies: BodyDecoder) -> Any:
        """The body that was written.

        Raises:
            PoisonMessage: it is not of the known kinds.
        """
        return bodies.decode(msgspec.json.encode(self.content).decode())


class Outbox(Generic[M]):
    """Messages stored in an entity of the application until they are in a queue."""

    def __init__(
        self,
        record: type[M],
        *,
        shards: int = 1,
        budget: Budget | None = None,
        new_id: Callable[[], str] = new_ulid,
    ) -> None:
        """Declare that messages wait in `record`.

        Args:
            record: a subclass of `OutboxRecord` with a table and a key.
            shards: the number of partitions for the messages; each group is in one of them. Each partition accepts
                about 300 messages per second. Forward all messages before you lower this number.
            budget: of the consistent read that looks for messages.
            new_id: creates identifiers that sort by time.

        Raises:
            ModelError: the key does not consist of shard and identifier, or the messages could expire unsent.
        """
        self._schema = schema_of(record)
        self.shards = shards
        self._new_id = new_id
        self._primary = self._schema.primary.attributes
        check_complete(self._schema, OutboxRecord)
        self._check_keys()
        name = snake(self._schema.name)
        self.waiting: Callable[[int], Query[M]] = query(
            record,
            record.primary,
            name=f"{name}s_waiting",
            doc="Messages that are not in the queue yet, oldest first.",
            parameters=["shard"],
            budget=budget,
        )
        """The messages of a shard that are not in the queue yet."""
        declare_operation(self._schema, "forwarded", "Delete messages that are in the queue.", BatchWriteItem)

    def message(self, body: Body, *, group: str, now: float) -> Put[M]:
        """Part of a transaction: the message is written if and only if the rest of the transaction is.

        Args:
            body: the content of the message.
            group: the group, such as a user's id: messages of a group are delivered in order.
            now: the time of writing, in seconds since the epoch.
        """
        record = self._schema.cls(
            shard=crc32(group.encode()) % self.shards,
            message_id=self._new_id(),
            group=group,
            written_at=int(now),
            body=encode_body(body),
        )
        return insert(record)

    def forwarding(self, limit: int = MAX_FORWARDED) -> Forwarding:
        """Move messages to the queue, oldest first, by yielding operations and sends; return how many were moved.

        Sent messages are then deleted. After an interruption they are sent again, and the queue drops duplicates.
        """
        moved = 0
        for shard in range(self.shards):
            moved += yield from self._forward_shard(shard, limit)
        return moved

    def _forward_shard(self, shard: int, limit: int) -> Forwarding:
        moved = 0
        while moved < limit:
            page = yield from self.waiting(shard).consistent().page(min(PAGE, limit - moved))
            for record in page:
                yield _send_of(record)
            if page:
                yield from batch_write([self._delete(record) for record in page]).labelled(
                    f"{self._schema.name}.forwarded"
                )
            moved += len(page)
            if page.next_cursor is None:
                break
        return moved

    def _delete(self, record: M) -> Delete[M]:
        item = self._schema.item(record)
        return Delete(self._schema, {attribute.name: item[attribute.name] for attribute, _ in self._primary})

    def _check_keys(self) -> None:
        schema = self._schema
        if (schema.primary.hash_fields, schema.primary.fields) != (("shard",), ("shard", "message_id")):
            hint = 'Write Key("OUTBOX#{shard}", "MESSAGE#{message_id}").'
            raise ModelError(f"{schema.name}: its key must be the shard and then the id.", owner=schema.cls, hint=hint)
        if schema.expires is not None or schema.version is not None:
            raise ModelError(f"{schema.name} must have neither a TTL nor a version.", owner=schema.cls)


def forward(outbox: Outbox[Any], db: Session, queue: Queue, *, limit: int = MAX_FORWARDED) -> int:
    """Move the waiting messages of an outbox to a queue, in order; return how many were moved.

    Several workers may do so concurrently.
    """

    def execute(request: Operation[Any] | Send) -> Any:
        return db.run(request) if isinstance(request, Operation) else queue.execute(request)

    return run(outbox.forwarding(limit), execute)


async def forward_async(outbox: Outbox[Any], db: AsyncSession, queue: Queue, *, limit: int = MAX_FORWARDED) -> int:
    """Like `forward`, without blocking the event loop."""

    async def execute(request: Operation[Any] | Send) -> Any:
        return await (db.run(request) if isinstance(request, Operation) else queue.execute_async(request))

    return await run_async(outbox.forwarding(limit), execute)


def _send_of(record: OutboxRecord) -> Send:
    content = msgspec.json.decode(record.body)
    message = OutboxMessage(record.message_id, record.group, record.written_at, content)
    return Send(encode_body(message), _queue_group(record.group), record.message_id)


def _queue_group(group: str) -> str:
    """The name of a group in the queue: a digest if the queue would not accept the name."""
    return group if _GROUP.fullmatch(group) else hashlib.sha256(group.encode()).hexdigest()
