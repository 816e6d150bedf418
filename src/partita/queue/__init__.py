"""Queues: messages that survive, in order within their group, until somebody has worked on them."""

from partita.queue._bodies import Bodies, Body, written
from partita.queue._interface import (
    MAX_HIDDEN_SECONDS,
    Accepted,
    Acknowledge,
    Create,
    DeadLetter,
    Discard,
    Measure,
    Message,
    Policy,
    Postpone,
    Queue,
    ReadDead,
    Receive,
    Redrive,
    Request,
    Send,
    Stats,
)
from partita.queue._open import file_of, open_queue

__all__ = [
    "MAX_HIDDEN_SECONDS",
    "Accepted",
    "Acknowledge",
    "Bodies",
    "Body",
    "Create",
    "DeadLetter",
    "Discard",
    "Measure",
    "Message",
    "Policy",
    "Postpone",
    "Queue",
    "ReadDead",
    "Receive",
    "Redrive",
    "Request",
    "Send",
    "Stats",
    "file_of",
    "open_queue",
    "written",
]
