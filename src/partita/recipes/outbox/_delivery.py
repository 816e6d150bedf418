"""Delivery: messages go from the queue to a sender, in order within their group, until it has taken them."""

from __future__ import annotations

import importlib
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from partita.errors import OperationError, PoisonMessage
from partita.queue import Acknowledge, BodyDecoder, Message, Postpone, Queue, Receive
from partita.recipes.outbox._outbox import OutboxMessage
from partita.runtime import make_private_folder, open_private

logger: Final = logging.getLogger("partita.outbox")

VISIBLE_AFTER: Final = 60.0
"""Longer than a sender takes. After so long the message of a worker that died comes again."""
MAX_PAUSE: Final = 900.0
_BODIES: Final = BodyDecoder(OutboxMessage)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Sender(Protocol):
    """Takes messages to where they belong: an email, a call of another service, a file."""

    def __call__(self, message: OutboxMessage) -> None:
        """Send a message. It may have been sent before: its `message_id` tells.

        Raises:
            Exception: any, and the message comes again, before all others of its group.
        """
        ...


class FileSender:
    """Writes each message to a file of its own, `MESSAGE_ID.json`. One that comes again is written over itself.

    The folder and its files are for their owner alone. Whoever reads them takes them away.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_private_folder(folder)

    def __call__(self, message: OutboxMessage) -> None:
        """Write a message, whole or not at all, so that it survives a power loss."""
        if not _NAME.fullmatch(message.message_id):
            raise OperationError(f"{message.message_id!r} is not the name of a file.")
        path = self.folder / f"{message.message_id}.json"
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        with os.fdopen(open_private(unfinished), "wb") as file:
            file.truncate()
            file.write(msgspec.json.format(msgspec.json.encode(message)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync_folder(self.folder)


def open_sender(address: str) -> Sender:
    """The sender at an address.

    | address | sender |
    | --- | --- |
    | `file:/var/spool/notices` | writes files into the folder |
    | `my_package.mail:send` | what a module of yours has by that name: a function that takes an `OutboxMessage` |

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


_ADDRESSES: Final = "Write file:FOLDER, or MODULE:FUNCTION for one of yours."


def deliver(
    queue: Queue, send: Sender | Callable[[OutboxMessage], None], *, wait: float = 0.0, limit: int = 1_000
) -> int:
    """Give the messages of a queue to a sender, until none is left that can be received now; how many it took.

    One that fails comes again after a pause that doubles, and holds the others of its group back. After as many tries
    as the queue's policy allows it is a dead letter, and its group goes on.

    Args:
        queue: what an outbox was forwarded to.
        send: takes each message, and raises an error where it could not.
        wait: for how many seconds to wait for the first message.
        limit: return after so many tries.
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
    except Exception:  # whatever a sender raises, other messages must go on
        logger.exception("A message of %s was not sent, and is tried again.", queue.name)
    else:
        queue.execute(Acknowledge((received.receipt,)))
        return True
    queue.execute(Postpone((received.receipt,), min(2.0**received.receives, MAX_PAUSE)))
    return False


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be synced
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
