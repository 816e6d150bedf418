"""The outbox itself: messages in the table until they are in the queue."""

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
"""As many as one batch deletes."""
MAX_FORWARDED: Final = 1_000
"""How many messages of a shard one call forwards, so that a worker looks up in between."""

_GROUP: Final = re.compile(r"[!-~]{1,128}")
"""What a queue takes as the name of a group."""

Forwarding: TypeAlias = Generator[Operation[Any] | Send, Any, int]


class OutboxRecord(Entity):
    """A message that waits in the table. Subclass it with a table, and a key of `shard` and then `message_id`."""

    primary: ClassVar[Key]
    in_lake: ClassVar = False

    shard: int
    message_id: str
    """Sorts by the time of writing, and stays the same however often the message is delivered."""
    group: str
    """Whose message it is: those of one group are delivered in the order in which they were written."""
    written_at: int
    """In seconds since the epoch."""
    body: str
    """JSON, with its kind and version."""


class OutboxMessage(Body, frozen=True):
    """A message on its way to whoever sends it, as the queue has it."""

    kind = "outbox_message"

    message_id: str
    """Stays the same however often the message comes, so that a sender can tell that it has sent it before."""
    group: str
    written_at: int
    content: dict[str, Any]
    """What was written: `{"v": 1, "kind": …}` and the fields of its body."""

    def read(self, bodies: BodyDecoder) -> Any:
        """The body that was written.

        Raises:
            PoisonMessage: it is not one of these.
        """
        return bodies.decode(msgspec.json.encode(self.content).decode())


class Outbox(Generic[M]):
    """Messages kept in an entity of the user's until they are in a queue."""

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
            shards: over how many partitions the messages are spread, each group in one of them. Each partition takes
                about 300 messages a second. Forward all that was written before you lower it.
            budget: of the read that looks for messages, which is consistent.
            new_id: makes identifiers that sort by time.

        Raises:
            ModelError: the key is not made of shard and identifier, or the messages could expire unsent.
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
        declare_operation(self._schema, "forwarded", "Messages are in the queue, and leave the table.", BatchWriteItem)

    def message(self, body: Body, *, group: str, now: float) -> Put[M]:
        """Part of a transaction: the message is there if and only if the rest of it is.

        Args:
            body: what it says.
            group: whose message it is, as a user's id: those of one group are delivered in order.
            now: when it is written, in seconds since the epoch.
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
        """Move messages to the queue, oldest first, as operations and sends; how many there were.

        What was sent is then deleted. Cut off in between, it is sent again, and the queue drops what it knows.
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
            raise ModelError(f"{schema.name}: its key is not the shard and then the id.", owner=schema.cls, hint=hint)
        if schema.expires is not None or schema.version is not None:
            raise ModelError(f"{schema.name} has a TTL or a version, which a message has not.", owner=schema.cls)


def forward(outbox: Outbox[Any], db: Session, queue: Queue, *, limit: int = MAX_FORWARDED) -> int:
    """Move what waits in an outbox to a queue, in order; how many messages that were.

    Several workers may do so at once.
    """

    def execute(request: Operation[Any] | Send) -> Any:
        return db.run(request) if isinstance(request, Operation) else queue.execute(request)

    return run(outbox.forwarding(limit), execute)


async def forward_async(outbox: Outbox[Any], db: AsyncSession, queue: Queue, *, limit: int = MAX_FORWARDED) -> int:
    """The same, without blocking the event loop."""

    async def execute(request: Operation[Any] | Send) -> Any:
        return await (db.run(request) if isinstance(request, Operation) else queue.execute_async(request))

    return await run_async(outbox.forwarding(limit), execute)


def _send_of(record: OutboxRecord) -> Send:
    content = msgspec.json.decode(record.body)
    message = OutboxMessage(record.message_id, record.group, record.written_at, content)
    return Send(encode_body(message), _queue_group(record.group), record.message_id)


def _queue_group(group: str) -> str:
    """A group as the queue names it; its digest where a queue would not take the name."""
    return group if _GROUP.fullmatch(group) else hashlib.sha256(group.encode()).hexdigest()
