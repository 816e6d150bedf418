"""Delivery: passing messages from the queue to a sender, in order within their group, until it accepts them."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from partita.errors import OperationError, PoisonMessage
from partita.queue import Acknowledge, BodyDecoder, Message, Postpone, Queue, Receive
from partita.recipes.outbox._outbox import OutboxMessage
from partita.runtime import make_private_folder, write_private

logger: Final = logging.getLogger("partita.outbox")

VISIBLE_AFTER: Final = 60.0
"""Longer than a sender needs. After this time, the message of a worker that died is delivered again."""
MAX_PAUSE: Final = 900.0
_BODIES: Final = BodyDecoder(OutboxMessage)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Sender(Protocol):
    """Sends messages to their destination: an email, a call of another service, a file."""

    def __call__(self, message: OutboxMessage) -> None:
        """Send a message. It may have been sent before, which can be detected by its `message_id`.

        Raises:
            Exception: after any exception, the message is delivered again, before all others of its group.
        """
        ...


class FileSender:
    """Writes each message to its own file, `MESSAGE_ID.json`. A repeated message overwrites its file.

    Only their owner can access the folder and its files. The reader of the files is to remove them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_private_folder(folder)

    def __call__(self, message: OutboxMessage) -> None:
        """Write a message atomically and durably."""
        if not _NAME.fullmatch(message.message_id):
            raise OperationError(f"{message.message_id!r} is not a valid file name.")
        content = msgspec.json.format(msgspec.json.encode(message)) + b"\n"
        write_private(self.folder / f"{message.message_id}.json", content)


def open_sender(address: str) -> Sender:
    """The sender at an address.

    | address | sender |
    | --- | --- |
    | `file:/var/spool/notices` | writes files into the folder |
    | `my_package.mail:send` | a function in a module of yours that takes an `OutboxMessage` |

    Raises:
        OperationError: there is no such sender.
    """
    if address.startswith("file:") and len(address) > len("file:"):
        return FileSender(Path(address.removeprefix("file:")))
    module, _, name = address.partition(":")
    try:
        sender: Any = getattr(importlib.import_module(module), name) if module and name else None
    except (ImportError, AttributeError) as error:
        raise OperationError(f"There is no sender {address!r}: {error}.", hint=_ADDRESSES) from error
    if not callable(sender):
        raise OperationError(f"{address!r} is not the address of a sender.", hint=_ADDRESSES)
    return sender  # type: ignore[no-any-return]


_ADDRESSES: Final = "Write file:FOLDER, or MODULE:FUNCTION for your own function."


def deliver(
    queue: Queue, send: Sender | Callable[[OutboxMessage], None], *, wait: float = 0.0, limit: int = 1_000
) -> int:
    """Pass the messages of a queue to a sender until no more can be received now; return how many it accepted.

    A message that fails is delivered again after a pause, which doubles each time, and blocks the others of its group.
    After as many tries as the queue's policy allows it becomes a dead letter, and its group continues.

    Args:
        queue: the queue to which an outbox is forwarded.
        send: sends one message, and raises an error if that fails.
        wait: how many seconds to wait for the first message.
        limit: return after this many tries.
    """
    delivered = 0
    for tried in range(limit):
        received = queue.execute(Receive(limit=1, wait=0.0 if tried else wait, visibility=VISIBLE_AFTER))
        if not received:
            break
        delivered += _deliver_one(queue, received[0], send)
    return delivered


def _deliver_one(queue: Queue, received: Message, send: Callable[[OutboxMessage], None]) -> bool:
    try:
        send(_BODIES.decode(received.body))
    except PoisonMessage as poison:
        logger.warning("A message of %s cannot be read: %s", queue.name, poison)
    except Exception:  # whatever a sender raises, other messages must be delivered
        logger.exception("A message of %s was not sent and will be tried again.", queue.name)
    else:
        queue.execute(Acknowledge((received.receipt,)))
        return True
    queue.execute(Postpone((received.receipt,), min(2.0**received.receives, MAX_PAUSE)))
    return False
