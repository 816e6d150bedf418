"""Random sends, receives, restarts and waits: the embedded queue behaves like a list of messages."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import Struct

from partita.queue import Acknowledge, Discard, GetStats, Message, Postpone, QueuePolicy, Receive, Redrive, Send
from partita.queue.embedded import EmbeddedQueue
from partita.testing import FakeClock

MAX_RECEIVES = 3
GROUPS = ("a", "b", "c")


class Expected(Struct):
    """The expected state of a message."""

    sequence: int
    body: str
    group: str
    receives: int = 0
    hidden_until: float = 0.0


class QueueMachine(RuleBasedStateMachine):
    """Compares the queue with a list of messages, in the order in which they were sent."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="partita-queue-")
        self.clock = FakeClock()
        self.queue = self.opened()
        self.expected: list[Expected] = []
        self.dead: list[Expected] = []
        self.received: list[tuple[Message, Expected]] = []
        self.sent = 0
        self.last = 0

    def opened(self) -> EmbeddedQueue:
        path = Path(self.folder.name) / "queue.db"
        return EmbeddedQueue(path, "q", policy=QueuePolicy(MAX_RECEIVES), clock=self.clock, durable=False)

    def teardown(self) -> None:
        self.queue.close()
        self.folder.cleanup()

    @rule(group=st.sampled_from(GROUPS), again=st.booleans())
    def send(self, group: str, again: bool) -> None:  # noqa: FBT001 - hypothesis passes it by name
        self.sent += 1
        request = Send(f"message {self.sent}", group, str(self.sent))
        first = self.queue.execute(request)
        if again:
            assert self.queue.execute(request) == first
        self.last += 1
        assert first.sequence == self.last
        self.expected.append(Expected(self.last, request.body, group))

    @rule(limit=st.integers(1, 4), visibility=st.sampled_from([0.0, 5.0, 30.0]))
    def receive(self, limit: int, visibility: float) -> None:
        now = self.clock()
        held = {each.group for each in self.expected if each.hidden_until > now}
        heads: dict[str, None] = dict.fromkeys(each.group for each in self.expected if each.group not in held)
        wanted: list[Expected] = []
        for group in heads:
            if len(wanted) < limit:
                self.bury(group)
                wanted += [each for each in self.expected if each.group == group][: limit - len(wanted)]
        messages = self.queue.execute(Receive(limit, visibility=visibility))
        for each in wanted:
            each.receives += 1
            each.hidden_until = now + visibility
        assert [(m.body, m.group, m.receives) for m in messages] == [(e.body, e.group, e.receives) for e in wanted]
        self.received += zip(messages, wanted, strict=True)

    def bury(self, group: str) -> None:
        spent = [each for each in self.expected if each.group == group and each.receives >= MAX_RECEIVES]
        self.dead += spent
        self.expected = [each for each in self.expected if each not in spent]

    @precondition(lambda self: self.received)
    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        message, expected = data.draw(st.sampled_from(self.received))
        is_late = not self.counts(message, expected)
        assert self.queue.execute(Acknowledge((message.receipt,))) == ((message.receipt,) if is_late else ())
        if not is_late:
            self.expected.remove(expected)

    @precondition(lambda self: self.received)
    @rule(data=st.data(), seconds=st.sampled_from([0.0, 10.0]))
    def postpone(self, data: st.DataObject, seconds: float) -> None:
        message, expected = data.draw(st.sampled_from(self.received))
        is_late = not self.counts(message, expected)
        assert self.queue.execute(Postpone((message.receipt,), seconds)) == ((message.receipt,) if is_late else ())
        if not is_late:
            expected.hidden_until = self.clock() + seconds

    def counts(self, message: Message, expected: Expected) -> bool:
        """Whether a receipt is still valid: the message exists, and was not delivered again since."""
        return any(each is expected for each in self.expected) and expected.receives == message.receives

    @rule(seconds=st.sampled_from([1.0, 6.0, 31.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def redrive(self) -> None:
        assert self.queue.execute(Redrive()) == len(self.dead)
        for each in sorted(self.dead, key=lambda each: each.sequence):
            self.last += 1
            self.expected.append(Expected(self.last, each.body, each.group))
        self.dead = []

    @rule()
    def discard(self) -> None:
        assert self.queue.execute(Discard()) == len(self.dead)
        self.dead = []

    @rule()
    def reopen(self) -> None:
        self.queue.close()
        self.queue = self.opened()

    @invariant()
    def numbers_agree(self) -> None:
        hidden = sum(each.hidden_until > self.clock() for each in self.expected)
        stats = self.queue.execute(GetStats())
        assert (stats.waiting, stats.in_flight, stats.dead) == (len(self.expected) - hidden, hidden, len(self.dead))


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestQueue.pytestmark = [pytest.mark.req("E02")]  # type: ignore[attr-defined]
