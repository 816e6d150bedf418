"""Blocking calls: a thread sends, waits and reads on its own socket, so nothing has to be woken in between."""

from __future__ import annotations

import threading
import time

from partita._aws._dial import Dialer
from partita._aws._http import AnswerReader, encoded, start_of
from partita._aws._kept import CHUNK, Kept, KeptConnection, lost
from partita._aws._transport import HttpAnswer, HttpCall, Limits, NotSent


class SocketTransport:
    """As many calls at once as there are connections; safe for threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._dialer = Dialer(limits.connect)
        self._kept: Kept[Connection] = Kept(limits.idle)
        self._slots = threading.BoundedSemaphore(limits.connections)

    def send(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer.

        Raises:
            NotSent: it certainly did not happen. AnswerLost: it may have happened.
        """
        if not self._kept.is_from_here():
            self._slots = threading.BoundedSemaphore(self._limits.connections)
        slots = self._slots
        if not slots.acquire(timeout=self._limits.wait):
            raise NotSent("all connections are in use")
        try:
            connection = self._kept.take(call.url) or self._connect(call.url)
            answer = connection.exchange(call)
            self._kept.put_back(call.url, connection, ended=answer.closes)
            return answer
        finally:
            slots.release()

    def close(self) -> None:
        """Close the connections."""
        self._kept.close()

    def _connect(self, url: str) -> Connection:
        try:
            connected = self._dialer.connect(url)
            try:
                if secured := self._dialer.tls_of(url):
                    connected = secured[0].wrap_socket(connected, server_hostname=secured[1])
            except BaseException:
                connected.close()
                raise
        except OSError as error:
            raise NotSent(str(error)) from error
        connected.settimeout(self._limits.read)
        return Connection(connected, start_of(url))


class Connection(KeptConnection):
    """A connection that blocks."""

    def exchange(self, call: HttpCall) -> HttpAnswer:
        """Send the call and read its answer.

        Raises:
            AnswerLost: it broke on the way; the connection is closed.
        """
        reader = AnswerReader()
        data = encoded(self.start, call)
        try:
            self.socket.sendall(data)
            while (answer := reader.feed(self.socket.recv(CHUNK))) is None:
                pass
        except (OSError, ValueError) as error:
            self.close()
            raise lost(error) from error
        except BaseException:
            self.close()
            raise
        self.used = time.monotonic()
        return answer
