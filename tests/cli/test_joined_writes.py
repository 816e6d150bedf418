"""Joined writes: a response that is complete is sent in one piece, and no part of any response is held back."""

from __future__ import annotations

import asyncio
from typing import Any

from partita.cli._joined_writes import MAX_JOINED, JoinedWrites


class Sent(asyncio.Transport):
    """Records the pieces that were sent, and how the connection ended."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.end = ""

    def write(self, data: Any) -> None:
        assert not self.end
        self.pieces.append(data)

    def get_write_buffer_size(self) -> int:
        return 3

    def is_closing(self) -> bool:
        return bool(self.end)

    def close(self) -> None:
        self.end = "closed"

    def abort(self) -> None:
        self.end = "aborted"

    def pause_reading(self) -> None:
        """Do nothing: there is no client."""

    def resume_reading(self) -> None:
        """Do nothing: there is no client."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 1)}.get(name, default)


def joined() -> tuple[JoinedWrites, Sent]:
    sent = Sent()
    return JoinedWrites(sent, asyncio.get_running_loop()), sent


async def test_a_head_and_its_body_are_sent_in_one_piece() -> None:
    transport, sent = joined()
    for _ in range(2):
        transport.write(b"head ")
        transport.write(b"body ")
    assert sent.pieces == [b"head body "] * 2
    await asyncio.sleep(0)
    assert len(sent.pieces) == 2


async def test_a_head_without_a_body_is_sent_when_the_loop_comes_around() -> None:
    transport, sent = joined()
    transport.write(b"head")
    assert sent.pieces == []
    assert transport.get_write_buffer_size() == 7
    await asyncio.sleep(0)
    assert sent.pieces == [b"head"]
    assert transport.get_write_buffer_size() == 3


async def test_a_large_piece_is_not_copied() -> None:
    transport, sent = joined()
    large = bytes(MAX_JOINED + 1)
    transport.write(b"head")
    transport.write(large)
    assert sent.pieces[0] == b"head"
    assert sent.pieces[1] is large


async def test_to_close_sends_what_was_kept_and_to_abort_drops_it() -> None:
    closed, sent = joined()
    closed.write(b"head")
    closed.close()
    assert (sent.pieces, sent.end, closed.is_closing()) == ([b"head"], "closed", True)
    aborted, lost = joined()
    aborted.write(b"head")
    aborted.abort()
    assert (lost.pieces, lost.end) == ([], "aborted")
    await asyncio.sleep(0)
    assert (sent.pieces, lost.pieces) == ([b"head"], [])


async def test_the_rest_is_the_connection_s_own() -> None:
    transport, _ = joined()
    assert transport.get_extra_info("peername") == ("127.0.0.1", 1)
    assert transport.get_extra_info("other", 5) == 5
