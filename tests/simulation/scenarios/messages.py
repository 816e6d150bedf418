"""Messages: senders retry, receivers are killed, some messages cannot be processed. The order in a group is kept."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final

from tests.simulation._kernel import Process
from tests.simulation._retrying import PASSING, GaveUp, ask_again
from tests.simulation._world import World, expect

from partita import Table
from partita.queue import Acknowledge, GetStats, Message, Postpone, QueuePolicy, ReadDead, Receive, Send, SentMessage

NAME: Final = "messages"
GROUPS: Final = tuple(f"group-{number}" for number in range(4))
SENDERS: Final = 2
RECEIVERS: Final = 2
VISIBILITY: Final = 6.0
POISON: Final = "poison"


class Messages:
    """The scenario `messages`, with the messages that were sent and received."""

    tables: Sequence[Table] = ()
    queues: Mapping[str, QueuePolicy] = {NAME: QueuePolicy(max_receives=3)}
    spared: Container[str] = ()

    def __init__(self) -> None:
        self.accepted: dict[str, SentMessage] = {}
        self.received: dict[str, list[int]] = {group: [] for group in GROUPS}
        """The sequence numbers of each group in the order of their first delivery."""
        self.sequences: dict[str, int] = {}

    def start(self, world: World) -> None:
        """Start the senders and receivers."""
        for number in range(SENDERS):
            world.client(f"sender-{number}", lambda process: self._send(world, process))
        for number in range(RECEIVERS):
            world.worker(f"receiver-{number}", lambda process: self._receive(world, process))

    def _send(self, world: World, process: Process) -> None:
        queue, count = world.queue(process, NAME), 0
        while not world.is_calm:
            count += 1
            poison = POISON if world.random.random() < 0.2 else "fine"
            body, group = f"{process.name}-{count}-{poison}", world.random.choice(GROUPS)
            try:
                sent: SentMessage = ask_again(world, lambda: queue.execute(Send(body, group, body)))  # noqa: B023 - at once
            except GaveUp:
                continue
            before = self.accepted.setdefault(body, sent)
            expect(before == sent or _has_jumped(world), "the message {} was accepted twice", body)
            world.kernel.sleep(world.random.uniform(0.0, 0.5))

    def _receive(self, world: World, process: Process) -> None:
        queue = world.queue(process, NAME)
        while True:
            try:
                for message in queue.execute(Receive(limit=1, wait=1.0, visibility=VISIBILITY)):
                    self._note(world, message)
                    if message.body.endswith(POISON):
                        queue.execute(Postpone((message.receipt,), 0))
                    else:
                        queue.execute(Acknowledge((message.receipt,)))
            except PASSING:
                world.kernel.sleep(1.0)

    def _note(self, world: World, message: Message) -> None:
        known = self.sequences.setdefault(message.body, message.sequence)
        expect(known == message.sequence or _has_jumped(world), "the message {} is in the queue twice", message.body)
        if message.sequence not in self.received[message.group]:
            self.received[message.group].append(message.sequence)

    def check(self, world: World) -> None:  # noqa: ARG002 - the same signature for all scenarios
        """Check that the messages of each group were delivered in order."""
        for group, sequences in self.received.items():
            expect(sequences == sorted(sequences), "the order of group {} is {}", group, sequences)

    def is_settled(self, world: World) -> bool:
        """Whether all senders have ended, and the queue is empty."""
        stats = world.server.queues[NAME].execute(GetStats())
        return world.clients_are_done() and not stats.waiting + stats.in_flight

    def check_end(self, world: World) -> None:
        """Check that accepted messages were delivered or are dead letters, and poisoned ones are dead letters."""
        dead = world.server.queues[NAME].execute(ReadDead(1_000))
        known = self.sequences.keys() | {letter.body for letter in dead}  # all responses that delivered it may be lost
        for body in self.accepted:
            expect(body in known, "the accepted message {} was never delivered", body)
        poison = {body for body in self.sequences if body.endswith(POISON)}
        expect(poison <= {letter.body for letter in dead}, "a poisoned message is not a dead letter")


def _has_jumped(world: World) -> bool:
    """Whether the server's clock was ahead, so that the five minutes of deduplication ended early."""
    return any(fault.kind == "clock step" for fault in world.faults.happened)
