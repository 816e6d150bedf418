"""Outboxes: a message is delivered at least once if its transaction commits, else never, in order within its group."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

from partita import AsyncSession, EmbeddedStore, Entity, Key, Rcu, Registry, Session, Table, Version, insert
from partita.errors import ModelError, OperationError, TransactionCancelled
from partita.queue import Body, BodyDecoder, GetStats, QueuePolicy, ReadDead, Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita.recipes.outbox import (
    FileSender,
    Outbox,
    OutboxMessage,
    OutboxRecord,
    deliver,
    forward,
    forward_async,
    open_sender,
)
from partita.store._requests import BatchWriteItem
from partita.testing import Crash, FakeClock, FaultyStore, assert_budget

TABLE = Table("orders", ttl="ttl", registry=Registry())


class Order(Entity, table=TABLE):
    primary: ClassVar = Key("ORDER#{number}", "ORDER")
    number: int


class Notice(OutboxRecord, table=TABLE):
    primary: ClassVar = Key("NOTICES#{shard}", "NOTICE#{message_id}")


class Spread(OutboxRecord, table=TABLE):
    primary: ClassVar = Key("SPREAD#{shard}", "NOTICE#{message_id}")


class Placed(Body, frozen=True):
    kind = "placed"
    number: int


BODIES = BodyDecoder(Placed)
NOTICES = Outbox(Notice, budget=Rcu(5))
SPREAD = Outbox(Spread, shards=3)


@pytest.fixture
def store(fake_clock: FakeClock) -> Iterator[FaultyStore]:
    with EmbeddedStore(":memory:", clock=fake_clock, sweep_every=None) as memory:
        yield FaultyStore(memory)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    db = Session(store, clock=fake_clock)
    db.create_tables([TABLE])
    return db


@pytest.fixture
def queue(tmp_path: Path, fake_clock: FakeClock) -> Iterator[EmbeddedQueue]:
    policy = QueuePolicy(max_receives=3)
    with closing(EmbeddedQueue(tmp_path / "queue.db", "notices", policy=policy, clock=fake_clock)) as queue:
        yield queue


def place(db: Session, number: int, group: str = "ann", outbox: Outbox[Any] = NOTICES) -> None:
    db.transact(insert(Order(number=number)), outbox.message(Placed(number), group=group, now=db.context.clock()))


class Inbox:
    """A sender that records messages, and refuses those whose number is in `refused`."""

    def __init__(self) -> None:
        self.got: list[tuple[str, int]] = []
        self.refused: set[int] = set()

    def __call__(self, message: OutboxMessage) -> None:
        number = message.read(BODIES).number
        if number in self.refused:
            raise ConnectionError("not now")
        self.got.append((message.group, number))


class TestWriting:
    def test_a_message_is_delivered_with_what_it_tells_of(self, db: Session, queue: EmbeddedQueue) -> None:
        place(db, 1)
        inbox = Inbox()
        assert (forward(NOTICES, db, queue), deliver(queue, inbox)) == (1, 1)
        assert inbox.got == [("ann", 1)]
        assert (forward(NOTICES, db, queue), deliver(queue, inbox)) == (0, 0)

    def test_there_is_none_where_its_transaction_failed(self, db: Session, queue: EmbeddedQueue) -> None:
        db.run(insert(Order(number=1)))
        with pytest.raises(TransactionCancelled):
            place(db, 1)
        assert forward(NOTICES, db, queue) == 0

    def test_it_says_when_it_was_written_and_what_it_is(self, db: Session, queue: EmbeddedQueue) -> None:
        place(db, 7)
        forward(NOTICES, db, queue)
        seen: list[OutboxMessage] = []
        deliver(queue, seen.append)
        assert seen[0].written_at == int(db.context.clock())
        assert seen[0].content == {"v": 1, "kind": "placed", "number": 7}

    def test_it_stays_out_of_the_lake(self) -> None:
        assert Notice.in_lake is False


class TestOrder:
    def test_messages_of_a_group_come_in_the_order_of_their_writing(self, db: Session, queue: EmbeddedQueue) -> None:
        for number in range(60):
            place(db, number, "ann" if number % 2 else "bob")
        forward(NOTICES, db, queue)
        inbox = Inbox()
        assert deliver(queue, inbox) == 60
        for group, rest in (("bob", 0), ("ann", 1)):
            assert [n for g, n in inbox.got if g == group] == list(range(rest, 60, 2))

    def test_one_that_fails_holds_back_its_group_alone(
        self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock
    ) -> None:
        for number, group in ((1, "ann"), (2, "ann"), (3, "bob")):
            place(db, number, group)
        forward(NOTICES, db, queue)
        inbox = Inbox()
        inbox.refused = {1}
        assert deliver(queue, inbox) == 1
        assert inbox.got == [("bob", 3)]
        inbox.refused = set()
        fake_clock.advance(2)
        assert deliver(queue, inbox) == 2
        assert inbox.got == [("bob", 3), ("ann", 1), ("ann", 2)]

    def test_one_that_always_fails_becomes_a_dead_letter(
        self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock
    ) -> None:
        place(db, 1)
        place(db, 2)
        forward(NOTICES, db, queue)
        inbox = Inbox()
        inbox.refused = {1}
        for _ in range(4):
            deliver(queue, inbox)
            fake_clock.advance(900)
        assert inbox.got == [("ann", 2)]
        assert [json.loads(dead.body)["content"]["number"] for dead in queue.execute(ReadDead())] == [1]

    def test_what_nobody_can_read_does_not_stop_the_others(self, queue: EmbeddedQueue, db: Session) -> None:
        queue.execute(Send("not json", "eve", "1"))
        place(db, 1)
        forward(NOTICES, db, queue)
        inbox = Inbox()
        assert deliver(queue, inbox) == 1

    def test_groups_are_spread_over_the_shards_and_keep_their_order(self, db: Session, queue: EmbeddedQueue) -> None:
        for number in range(40):
            place(db, number, f"user-{number % 8}", SPREAD)
        assert sum(bool(list(db.run(SPREAD.waiting(shard)))) for shard in range(3)) == 3
        assert forward(SPREAD, db, queue) == 40
        inbox = Inbox()
        deliver(queue, inbox)
        assert [n for g, n in inbox.got if g == "user-5"] == [5, 13, 21, 29, 37]

    @pytest.mark.parametrize("group", ["", "two words", "Grüße", "x" * 500])
    def test_a_group_may_have_any_name(self, db: Session, queue: EmbeddedQueue, group: str) -> None:
        place(db, 1, group)
        forward(NOTICES, db, queue)
        inbox = Inbox()
        deliver(queue, inbox)
        assert inbox.got == [(group, 1)]


class TestCrashes:
    def test_what_was_sent_and_not_deleted_is_sent_once(
        self, db: Session, store: FaultyStore, queue: EmbeddedQueue
    ) -> None:
        for number in range(3):
            place(db, number)
        store.crash_before(1, on=BatchWriteItem)
        with pytest.raises(Crash):
            forward(NOTICES, db, queue)
        assert forward(NOTICES, db, queue) == 3
        assert queue.execute(GetStats()).waiting == 3

    def test_a_worker_that_dies_while_it_sends_leaves_the_message(
        self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock
    ) -> None:
        place(db, 1)
        forward(NOTICES, db, queue)
        queue.execute(Receive(limit=1, visibility=60))
        inbox = Inbox()
        assert deliver(queue, inbox) == 0
        fake_clock.advance(61)
        assert deliver(queue, inbox) == 1

    def test_forwarding_is_bounded_and_goes_on(self, db: Session, queue: EmbeddedQueue) -> None:
        for number in range(30):
            place(db, number)
        assert [forward(NOTICES, db, queue, limit=20) for _ in range(3)] == [20, 10, 0]

    async def test_it_forwards_without_blocking_too(
        self, db: Session, store: FaultyStore, queue: EmbeddedQueue
    ) -> None:
        place(db, 1)
        assert await forward_async(NOTICES, AsyncSession(store), queue) == 1
        assert queue.execute(GetStats()).waiting == 1


class TestCost:
    def test_a_page_of_messages_is_within_its_budget(self, db: Session) -> None:
        for number in range(25):
            place(db, number)
        assert len(assert_budget(db, NOTICES.waiting(0).consistent().page(25))) == 25


class TestFiles:
    def test_each_message_is_a_file_for_its_owner_alone(
        self, db: Session, queue: EmbeddedQueue, tmp_path: Path
    ) -> None:
        place(db, 1)
        forward(NOTICES, db, queue)
        folder = tmp_path / "out"
        assert deliver(queue, open_sender(f"file:{folder}")) == 1
        (written,) = folder.iterdir()
        assert stat.S_IMODE(written.stat().st_mode) == 0o600
        message = json.loads(written.read_text())
        assert (written.name, message["group"]) == (f"{message['message_id']}.json", "ann")
        assert message["content"] == {"v": 1, "kind": "placed", "number": 1}

    def test_one_that_comes_again_is_the_same_file(self, tmp_path: Path) -> None:
        send = FileSender(tmp_path / "out")
        for text in ("a much longer text than the other", "short"):
            send(OutboxMessage("01ABC", "ann", 0, {"text": text}))
        assert json.loads((tmp_path / "out" / "01ABC.json").read_text())["content"] == {"text": "short"}
        assert len(list((tmp_path / "out").iterdir())) == 1

    def test_an_identifier_never_leads_out_of_the_folder(self, tmp_path: Path) -> None:
        with pytest.raises(OperationError, match="is not a valid file name"):
            FileSender(tmp_path / "out")(OutboxMessage("../evil", "ann", 0, {}))


class TestSenders:
    def test_a_sender_of_ones_own_is_named_by_its_module(self) -> None:
        sender: object = open_sender("json:dumps")
        assert sender is json.dumps

    @pytest.mark.parametrize("address", ["", "file:", "json", "json:", "json:nothing", "no_such_module:send", ":x"])
    def test_any_other_address_is_refused(self, address: str) -> None:
        with pytest.raises(OperationError) as refused:
            open_sender(address)
        assert "file:FOLDER" in (refused.value.hint or "")


class TestDeclaring:
    def test_the_key_is_the_shard_and_then_the_identifier(self) -> None:
        class ByGroup(OutboxRecord, table=Table("wrong", registry=Registry())):
            primary: ClassVar = Key("OUT#{group}", "{message_id}")

        with pytest.raises(ModelError, match="its key must be the shard"):
            Outbox(ByGroup)

    def test_a_message_does_not_expire(self) -> None:
        class Expiring(OutboxRecord, table=Table("wrong", ttl="ttl", registry=Registry())):
            primary: ClassVar = Key("OUT#{shard}", "{message_id}")
            ttl: int | None = None

        class Versioned(OutboxRecord, table=Table("wrong", registry=Registry())):
            primary: ClassVar = Key("OUT#{shard}", "{message_id}")
            version: Version = 0

        for record in (Expiring, Versioned):
            with pytest.raises(ModelError, match="neither a TTL nor a version"):
                Outbox(record)
