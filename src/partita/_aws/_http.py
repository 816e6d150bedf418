"""HTTP/1.1 as far as it is needed here, without input and output: a call as bytes, and an answer from bytes."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from partita._aws._transport import HttpAnswer, HttpCall

USER_AGENT: Final = "partita"
_MAX_HEAD: Final = 65_536
_HEAD_END: Final = b"\r\n\r\n"
_LINE_END: Final = b"\r\n"


def start_of(url: str) -> str:
    """The lines that every call to a URL begins with."""
    parts = urlsplit(url)
    return f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: {USER_AGENT}\r\n"


def encoded(start: str, call: HttpCall) -> bytes:
    """A call as it is sent."""
    headers = "".join([f"{name}: {value}\r\n" for name, value in call.headers.items()])
    return f"{start}{headers}Content-Length: {len(call.body)}\r\n\r\n".encode("latin-1") + call.body


class AnswerReader:
    """Reads one answer from the pieces that arrive."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._status = 0
        self._headers: dict[str, str] | None = None
        self._size = 0
        self._chunks: bytearray | None = None

    def feed(self, data: bytes) -> HttpAnswer | None:
        """The answer, once its last piece has come.

        Raises:
            ValueError: it ends too early, or is no HTTP.
        """
        if not data:
            raise ValueError("the connection was closed before the answer was complete")
        self._received += data
        if self._headers is None:
            self._read_head()
        if self._headers is None:
            return None
        body = self._whole() if self._chunks is None else self._joined(self._chunks)
        if body is None:
            return None
        headers = self._headers
        return HttpAnswer(self._status, body, lambda name: headers.get(name.lower()), closes=_closes(headers))

    def _read_head(self) -> None:
        end = self._received.find(_HEAD_END)
        if end < 0:
            if len(self._received) > _MAX_HEAD:
                raise ValueError("the head of the answer has no end")
            return
        self._status, self._headers = _parsed(self._received[:end].decode("latin-1"))
        del self._received[: end + len(_HEAD_END)]
        if self._headers.get("transfer-encoding", "").lower() == "chunked":
            self._chunks = bytearray()
        else:
            self._size = int(self._headers.get("content-length", "0"))

    def _whole(self) -> bytes | None:
        return bytes(self._received[: self._size]) if len(self._received) >= self._size else None

    def _joined(self, chunks: bytearray) -> bytes | None:
        while (end := self._received.find(_LINE_END)) >= 0:
            size = int(self._received[:end].partition(b";")[0], 16)
            start = end + len(_LINE_END)
            if len(self._received) < start + size + len(_LINE_END):
                return None
            chunks += self._received[start : start + size]
            del self._received[: start + size + len(_LINE_END)]
            if size == 0:
                return bytes(chunks)
        return None


def _parsed(head: str) -> tuple[int, dict[str, str]]:
    first, *lines = head.split("\r\n")
    version, status, *_ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if version != "HTTP/1.1":
        headers["connection"] = "close"
    return int(status), headers


def _closes(headers: dict[str, str]) -> bool:
    return headers.get("connection", "").lower() == "close"
