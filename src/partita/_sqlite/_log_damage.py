"""Damage in the log: commits that SQLite silently discards when it opens a log with a damaged frame.

A frame is a page with a header: page number, size of the database after a commit (else 0), the log's two salts, and the
checksum of all frames up to this one. For SQLite, the log ends at the first frame whose salts or checksum do not match.
That is right for a transaction that was being written when the power failed. It is wrong if a later transaction
follows, because that one began only after the damaged one was on the disk.

    commit ── frames ── commit ── damaged ── frames ── commit ── frame       two commits are lost
    commit ── frames ── commit ── torn ── frames ── commit                   the last one was not finished

A damaged last commit cannot be distinguished from an unfinished one, and is treated as such.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import apsw

from partita.errors import StoreDamaged

_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_MAX_UNSIGNED: Final = 0xFFFFFFFF
_BIG_ENDIAN: Final = 0x377F0683
_HINT: Final = (
    "Restore a backup; or, to continue without the lost commits, move the rest of the log into the file with "
    "`sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'`."
)


def refuse_cut_log(connection: apsw.Connection, path: str) -> None:
    """Refuse a file whose log has lost commits, or that ends in the middle of a page and has no log to complete it.

    The connection must have read the file, and nobody may write during this call.

    Raises:
        StoreDamaged: a damaged frame is followed by others, or a page is cut off. Nothing was changed.
    """
    log = Path(f"{path}-wal")
    frames, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
    if not frames and Path(path).stat().st_size % connection.pragma("page_size"):
        # SQLite reads the missing bytes as zeros and does not verify the checksum of such a page.
        raise StoreDamaged(f"The store {path} is damaged: it ends in the middle of a page.")
    if frames < 0 or not log.exists():
        return
    if lost := _commits_after(log, max(frames, 0)):
        message = f"The log of the store {path} is damaged after frame {frames}: at least {lost} commits are lost."
        raise StoreDamaged(message, hint=_HINT)


def _commits_after(log: Path, frames: int) -> int:
    """The number of commits, after the first `frames` frames of the log, that an intact frame follows."""
    with log.open("rb") as file:
        header = file.read(_LOG_HEADER)
        if len(header) < _LOG_HEADER:
            return 0
        magic, _, page_size = struct.unpack(">3I", header[:12])
        order, salts = (">" if magic == _BIG_ENDIAN else "<"), header[16:24]
        size = _FRAME_HEADER + page_size
        file.seek(_LOG_HEADER + frames * size)
        return sum(_follows(before, frame, order) for before, frame in _pairs(file, size, salts))


def _pairs(file: BinaryIO, size: int, salts: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each pair of adjacent frames that both have the salts of this log."""
    before = b""
    while len(frame := file.read(size)) == size:
        if before[8:16] == salts == frame[8:16]:
            yield before, frame
        before = frame


def _follows(before: bytes, frame: bytes, order: str) -> bool:
    """Whether the first frame ends a transaction, and the second is intact and was written after it."""
    ends = before[4:8] != bytes(4)
    return ends and _checksum(before[16:24], frame[:8] + frame[_FRAME_HEADER:], order) == frame[16:24]


def _checksum(start: bytes, data: bytes, order: str) -> bytes:
    """The log's cumulative checksum after `data`; `start` is the checksum of all bytes before."""
    first, second = struct.unpack(">2I", start)
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for position in range(0, len(words), 2):
        first = (first + words[position] + second) & _MAX_UNSIGNED
        second = (second + words[position + 1] + first) & _MAX_UNSIGNED
    return struct.pack(">2I", first, second)
