"""Handlers of requests that change a queue. Each runs in a transaction that several requests may share.

A group is held back while any of its messages is in flight:

    message   waits ── Receive ──▶ in flight ── Acknowledge ──▶ gone
                ▲                      │ its time is over, or Postpone(0)
                └──────────────────────┘ handed out too often: dead, and back by Redrive
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.queue._interface import (
    DEDUPLICATION_SECONDS,
    MAX_BODY_BYTES,
    MAX_HIDDEN_SECONDS,
    Acknowledge,
    Discard,
    Message,
    Postpone,
    Receive,
    Redrive,
    Send,
    SentMessage,
)
from partita.queue.embedded._file import MICROSECONDS, QueueConnection

_NAME: Final = re.compile(r"[!-~]{1,128}")
_RECEIPT: Final = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")
_FORGOTTEN_PER_SEND: Final = 3
"""More than one, so that deleting old entries keeps up with sending."""


def send(writer: QueueConnection, request: Send) -> SentMessage:
    """Put a message at the end of its group, unless it was sent in the last five minutes."""
    _check_send(request)
    now = writer.now()
    forgotten = now - int(DEDUPLICATION_SECONDS * MICROSECONDS)
    _forget_sent(writer, forgotten)
    known = writer.rows(
        "SELECT sequence, sent_at FROM sent WHERE group_name = ? AND deduplication_id = ? AND sent_at > ?",
        request.group,
        request.deduplication_id,
        forgotten,
    )
    if known:
        [(sequence, sent_at)] = known
    else:
        sequence, sent_at = _append(writer, request.group, request.body, now)
        writer.rows("REPLACE INTO sent VALUES (?, ?, ?, ?)", request.group, request.deduplication_id, sequence, sent_at)
    return SentMessage(str(sequence), sequence, sent_at / MICROSECONDS)


def _check_send(request: Send) -> None:
    for name in (request.group, request.deduplication_id):
        if not _NAME.fullmatch(name):
            message = f"A group or deduplication id must have 1 to 128 ASCII characters and no spaces: {name!r:.60}."
            raise ValidationFailed(message, hint="Encode other text, for example as a hash or in Base64.")
    if not request.body or len(request.body.encode()) > MAX_BODY_BYTES:
        hint = "Store what is larger as an item or an object, and send its key."
        raise ValidationFailed(f"The body of a message must have 1 to {MAX_BODY_BYTES} bytes.", hint=hint)


def _append(writer: QueueConnection, group: str, body: str, now: int) -> tuple[int, int]:
    statement = "UPDATE queue SET sequence = sequence + 1, sent_at = max(sent_at + 1, ?) RETURNING sequence, sent_at"
    [(sequence, sent_at)] = writer.rows(statement, now)
    writer.rows(
        "INSERT INTO messages (sequence, group_name, body, sent_at) VALUES (?, ?, ?, ?)", sequence, group, body, sent_at
    )
    writer.rows("INSERT INTO groups (name, first) VALUES (?, ?) ON CONFLICT DO NOTHING", group, sequence)
    return sequence, sent_at


def _forget_sent(writer: QueueConnection, until: int) -> None:
    old = "SELECT group_name, deduplication_id FROM sent WHERE sent_at <= ? ORDER BY sent_at LIMIT ?"
    writer.rows(f"DELETE FROM sent WHERE (group_name, deduplication_id) IN ({old})", until, _FORGOTTEN_PER_SEND)


def receive(writer: QueueConnection, request: Receive) -> tuple[Message, ...]:
    """Deliver the first messages of the groups that are not held back, oldest group first."""
    now = writer.now()
    hidden_until = now + _microseconds(request.visibility)
    received: list[Message] = []
    for group in _free_groups(writer, request.limit):
        received += _hand_out(writer, group, request.limit - len(received), hidden_until)
        if len(received) >= request.limit:
            break
    return tuple(received)


def _free_groups(writer: QueueConnection, limit: int) -> Iterator[str]:
    """Yield the groups that are not held back, each once; some may only have messages that become dead letters."""
    seen: set[str] = set()
    last = 0
    statement = (
        "SELECT first, name FROM groups WHERE held_until NOT BETWEEN ? AND ? AND first > ? ORDER BY first LIMIT ?"
    )
    hidden = writer.hidden()
    while rows := writer.rows(statement, *hidden, last, limit):
        for first, name in rows:
            last = first
            if name not in seen:
                seen.add(name)
                yield name


def _hand_out(writer: QueueConnection, group: str, limit: int, hidden_until: int) -> Iterator[Message]:
    _move_to_dead(writer, group)
    first = "SELECT sequence FROM messages WHERE group_name = ? ORDER BY sequence LIMIT ?"
    received = writer.rows(
        f"UPDATE messages SET receives = receives + 1, visible_at = ? WHERE sequence IN ({first})"
        " RETURNING sequence, body, sent_at, receives",
        hidden_until,
        group,
        limit,
    )
    _update_group(writer, group)
    for sequence, body, sent_at, receives in sorted(received):
        receipt = f"{sequence}.{receives}"
        yield Message(str(sequence), receipt, body, group, sequence, sent_at / MICROSECONDS, receives)


def _move_to_dead(writer: QueueConnection, group: str) -> None:
    """Move the messages of a group that were delivered too often to the dead letters."""
    spent = "group_name = ? AND visible_at IS NOT NULL AND receives >= ?"
    writer.rows(
        f"INSERT INTO dead SELECT sequence, group_name, body, sent_at FROM messages WHERE {spent}",
        group,
        writer.max_receives,
    )
    writer.rows(f"DELETE FROM messages WHERE {spent}", group, writer.max_receives)


def _update_group(writer: QueueConnection, group: str) -> None:
    """Update the row of a group from its messages: its first message, and until when it is held back."""
    [(first,)] = writer.rows("SELECT min(sequence) FROM messages WHERE group_name = ?", group)
    if first is None:
        writer.rows("DELETE FROM groups WHERE name = ?", group)
        return
    [(held_until,)] = writer.rows(
        "SELECT max(visible_at) FROM messages WHERE group_name = ? AND visible_at IS NOT NULL", group
    )
    writer.rows("UPDATE groups SET first = ?, held_until = ? WHERE name = ?", first, held_until or 0, group)


def acknowledge(writer: QueueConnection, request: Acknowledge) -> tuple[str, ...]:
    """Delete the messages; return the receipts that were too late."""
    return _with_receipts(
        writer, request.receipts, "DELETE FROM messages WHERE sequence = ? AND receives = ? RETURNING group_name"
    )


def postpone(writer: QueueConnection, request: Postpone) -> tuple[str, ...]:
    """Change when messages may be delivered again; return the receipts that were too late."""
    statement = "UPDATE messages SET visible_at = ?3 WHERE sequence = ?1 AND receives = ?2 RETURNING group_name"
    return _with_receipts(writer, request.receipts, statement, writer.now() + _microseconds(request.seconds))


def _with_receipts(writer: QueueConnection, receipts: tuple[str, ...], statement: str, *values: int) -> tuple[str, ...]:
    late = []
    touched: dict[str, None] = {}
    for receipt in receipts:
        rows = writer.rows(statement, *_parts(receipt), *values)
        if rows:
            touched[rows[0][0]] = None
        else:
            late.append(receipt)
    for group in touched:
        _update_group(writer, group)
    return tuple(late)


def _parts(receipt: str) -> tuple[int, int]:
    if not (parts := _RECEIPT.fullmatch(receipt)):
        hint = "Pass the receipts of messages that this queue has returned."
        raise ValidationFailed(f"{receipt!r:.60} is not a receipt of this queue.", hint=hint)
    return int(parts[1]), int(parts[2])


def _microseconds(seconds: float) -> int:
    if not 0 <= seconds <= MAX_HIDDEN_SECONDS:
        message = f"Messages can be hidden for 0 to {MAX_HIDDEN_SECONDS:.0f} seconds, not {seconds}."
        raise ValidationFailed(message, hint="Postpone a message again before its time is over.")
    return int(seconds * MICROSECONDS)


def redrive(writer: QueueConnection, request: Redrive) -> int:
    """Send dead letters again, oldest first."""
    letters = _delete_dead(writer, request.ids)
    for _, group, body in letters:
        _append(writer, group, body, writer.now())
    return len(letters)


def discard(writer: QueueConnection, request: Discard) -> int:
    """Delete dead letters."""
    return len(_delete_dead(writer, request.ids))


def _delete_dead(writer: QueueConnection, ids: tuple[str, ...] | None) -> list[tuple[Any, ...]]:
    if ids is None:
        return sorted(writer.rows("DELETE FROM dead RETURNING sequence, group_name, body"))
    statement = "DELETE FROM dead WHERE sequence = ? RETURNING sequence, group_name, body"
    return sorted(row for each in ids for row in writer.rows(statement, each))
