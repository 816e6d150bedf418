"""Outboxes: messages that are written in the transaction of what they tell of, and delivered at least once, in order.

class Notice(OutboxRecord, table=TABLE):
    primary: ClassVar = Key("NOTICES#{shard}", "NOTICE#{message_id}")

NOTICES = Outbox(Notice)

db.transact(insert(order), NOTICES.message(OrderPlaced(order.order_id), group=order.user_id, now=now))

forward(NOTICES, db, queue)                       # a worker: from the table to the queue
deliver(queue, FileSender(Path("notices")))       # the same or another: from the queue to where they belong
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
