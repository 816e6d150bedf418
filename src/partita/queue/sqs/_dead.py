"""The dead letters of a queue on SQS: a separate queue, which is read by receiving from it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from partita._aws import Calls
from partita.queue._interface import DeadLetter, Discard, Message, ReadDead, Receive, Redrive, Send
from partita.queue.sqs._channel import Channel
from partita.queue.sqs._messages import BATCH, call_in_batches, receive_from, send

WALK_SECONDS: Final = 60.0
"""The maximum time of a walk; the letters that it has read are hidden from other walks meanwhile."""


def read_dead(channel: Channel, request: ReadDead) -> Calls[tuple[DeadLetter, ...]]:
    """Read the dead letters without removing them."""
    seen, _ = yield from _walk(channel, _leave, request.limit)
    return tuple(DeadLetter(each.id, each.body, each.group, each.sent_at) for each in seen)


def redrive(channel: Channel, request: Redrive) -> Calls[int]:
    """Send dead letters again. If this is interrupted and repeated within five minutes, none is sent twice."""

    def use(letter: Message) -> Calls[bool]:
        if _is_wanted(letter, request.ids):
            yield from send(channel, Send(letter.body, letter.group, f"redrive-{letter.id}"))
        return _is_wanted(letter, request.ids)

    _, count = yield from _walk(channel, use)
    return count


def discard(channel: Channel, request: Discard) -> Calls[int]:
    """Delete dead letters."""

    def use(letter: Message) -> Calls[bool]:
        yield from ()
        return _is_wanted(letter, request.ids)

    _, count = yield from _walk(channel, use)
    return count


def _is_wanted(letter: Message, ids: tuple[str, ...] | None) -> bool:
    return ids is None or letter.id in ids


def _leave(letter: Message) -> Calls[bool]:  # noqa: ARG001 - all are left
    yield from ()
    return False


def _walk(
    channel: Channel, use: Callable[[Message], Calls[bool]], limit: int = sys.maxsize
) -> Calls[tuple[list[Message], int]]:
    """Read dead letters and delete those for which `use` returns true; return those read and the number deleted."""
    url = yield from channel.url(channel.dead_name)
    seen: list[Message] = []
    left: list[str] = []
    while len(seen) < limit:
        request = Receive(min(BATCH, limit - len(seen)), visibility=WALK_SECONDS)
        letters = yield from receive_from(channel, url, request)
        if not letters:
            break
        deleted: list[str] = []
        for letter in letters:
            (deleted if (yield from use(letter)) else left).append(letter.receipt)
        yield from call_in_batches(channel, url, "DeleteMessageBatch", deleted)
        seen += letters
    yield from call_in_batches(channel, url, "ChangeMessageVisibilityBatch", left, VisibilityTimeout=0)
    return seen, len(seen) - len(left)
