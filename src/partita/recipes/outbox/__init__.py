"""Outboxes: messages written in the same transaction as the change they announce, delivered at least once, in order.

class Notice(OutboxRecord, table=TABLE):
    primary: ClassVar = Key("NOTICES#{shard}", "NOTICE#{message_id}")

NOTICES = Outbox(Notice)

db.transact(insert(order), NOTICES.message(OrderPlaced(order.order_id), group=order.user_id, now=now))

forward(NOTICES, db, queue)                       # a worker: from the table to the queue
deliver(queue, FileSender(Path("notices")))       # the same or another worker: from the queue to the sender
"""

from partita.recipes.outbox._delivery import FileSender, Sender, deliver, open_sender
from partita.recipes.outbox._outbox import Outbox, OutboxMessage, OutboxRecord, forward, forward_async

__all__ = [
    "FileSender",
    "Outbox",
    "OutboxMessage",
    "OutboxRecord",
    "Sender",
    "deliver",
    "forward",
    "forward_async",
    "open_sender",
]
