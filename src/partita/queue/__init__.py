"""Queues: messages that survive, in order within their group, until somebody has worked on them."""

from partita.queue._bodies import Bodies, Body, written
from partita.queue._interface import (
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
from partita.queue._open import open_queue

__all__ = [
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
    "open_queue",
    "written",
]
