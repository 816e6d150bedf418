"""An independent and strict reading of RFC 9112 on where requests begin and end; it accepts nothing ambiguous.

Two deviations are accepted because they do not change where a request ends: line ends before it, and more than one
space between the parts of its first line.
"""

from __future__ import annotations

import re
from typing import Final

_LINE: Final = re.compile(rb"[\r\n]*[!#$%&'*+.^_`|~0-9A-Za-z-]+ +[\x21-\x7e\x80-\xff]+ +HTTP/1\.([01])\r\n")
_HEADER: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\r\n")
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,16})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_END: Final = b"\r\n"


def count_requests(data: bytes) -> int:
    """The number of complete requests before the first one that is cut off or violates the RFC."""
    count, at = 0, 0
    while (end := _request_end(data, at)) is not None:
        count, at = count + 1, end
    return count


def _request_end(data: bytes, at: int) -> int | None:
    line = _LINE.match(data, at)
    if line is None:
        return None
    lengths, codings, hosts, at = _read_headers(data, line.end())
    if at < 0 or len(lengths) + len(codings) > 1 or hosts > 1:
        return None
    if codings:
        return _chunks_end(data, at) if codings == [b"chunked"] else None
    end = at + int(lengths[0]) if lengths else at
    return end if end <= len(data) else None


def _read_headers(data: bytes, at: int) -> tuple[list[bytes], list[bytes], int, int]:
    """Return the lengths, transfer codings and number of hosts, and the end of the headers (-1 if they are invalid)."""
    found: dict[bytes, list[bytes]] = {b"content-length": [], b"transfer-encoding": [], b"host": []}
    while header := _HEADER.match(data, at):
        at = header.end()
        found.get(header[1].lower(), []).append(header[2].lower())
    lengths, codings, hosts = found.values()
    well_formed = data[at : at + 2] == _END and all(re.fullmatch(rb"[0-9]{1,18}", length) for length in lengths)
    return lengths, codings, len(hosts), at + 2 if well_formed else -1


def _chunks_end(data: bytes, at: int) -> int | None:
    while chunk := _CHUNK.match(data, at):
        size = int(chunk[1], 16)
        at = chunk.end() + size
        if size and data[at : at + 2] != _END:
            return None
        if not size:
            return at + 2 if data[at : at + 2] == _END else None
        at += 2
    return None
