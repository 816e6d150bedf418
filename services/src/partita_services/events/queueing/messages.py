"""The messages of the queue: the requests of one event that arrived together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from partita.queue import Body, BodyDecoder, Message, QueuePolicy, Send, encode_body
from partita_services.events.model import Request
from partita_services.events.transitions import Arrival

NAME: Final = "events"
POLICY: Final = QueuePolicy(max_receives=8)
MAX_IN_MESSAGE: Final = 200
"""A user id has up to 128 characters, so a message of this many is well below its limit of 256 KB."""


class Arrivals(Body, frozen=True):
    """Requests of one event, each with its user, in the order in which they came."""

    kind = "arrivals"

    event_id: str
    requests: tuple[tuple[str, str], ...]


BODIES: Final = BodyDecoder(Arrivals)


def sending(requests: Sequence[Request], *, once: str | None = None) -> Send:
    """The message for requests of one event, in this order. The queue accepts it once for each value of `once`."""
    event_id = requests[0].event_id
    body = Arrivals(event_id, tuple((request.request_id, request.user_id) for request in requests))
    return Send(encode_body(body), group=event_id, deduplication_id=once or requests[0].request_id)


def arrivals_in(message: Message) -> tuple[str, list[Arrival]]:
    """Return the id of the event that a message is about, and the requests in it.

    Raises:
        PoisonMessage: the message cannot be read.
    """
    body: Arrivals = BODIES.decode(message.body)
    is_redelivered = message.receives > 1
    return body.event_id, [Arrival(request, user, message.sent_at, is_redelivered) for request, user in body.requests]
