"""Queues: durable messages, in order within their group, that stay until a consumer acknowledges them."""

from partita.queue._bodies import Body, BodyDecoder, encode_body
from partita.queue._interface import (
    MAX_HIDDEN_SECONDS,
    Acknowledge,
    Create,
    DeadLetter,
    Discard,
    GetStats,
    Message,
    Postpone,
    Queue,
    QueuePolicy,
    QueueRequest,
    QueueStats,
    ReadDead,
    Receive,
    Redrive,
    Send,
    SentMessage,
)
from partita.queue._metered import MeteredQueue, QueueUsage
from partita.queue._open import open_queue, queue_file

__all__ = [
    "MAX_HIDDEN_SECONDS",
    "Acknowledge",
    "Body",
    "BodyDecoder",
    "Create",
    "DeadLetter",
    "Discard",
    "GetStats",
    "Message",
    "MeteredQueue",
    "Postpone",
    "Queue",
    "QueuePolicy",
    "QueueRequest",
    "QueueStats",
    "QueueUsage",
    "ReadDead",
    "Receive",
    "Redrive",
    "Send",
    "SentMessage",
    "encode_body",
    "open_queue",
    "queue_file",
]
