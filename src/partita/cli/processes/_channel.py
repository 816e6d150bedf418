"""The messages between the supervisor and each of its processes, over one pipe.

    process ──> supervisor   Ready, Failed, Counted, Asked
    supervisor ──> process   Stop, Cut, Count, Answer

A process responds to `Count` at once, from memory, in a thread that does nothing else.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from partita.errors import StoreUnavailable
from partita.reports import ProcessFigures, ServerFigures

PATIENCE_SECONDS: Final = 10.0
"""How long a process waits for an `Answer`: several times as long as the supervisor waits for the others."""


class Ready(Struct, frozen=True, tag=True):
    """The process accepts connections; the one for background work has prepared everything."""

    banner: str = ""
    """From the first server: the text to print for the user."""
    before: ProcessFigures = ProcessFigures()
    """From the process for background work: the figures of workers until then."""


class Failed(Struct, frozen=True, tag=True):
    """The process cannot start."""

    message: str


class Counted(Struct, frozen=True, tag=True):
    """The figures that the process has counted since it was started."""

    figures: ServerFigures
    troubles: dict[str, str] = {}
    """The parts of its work that currently fail, with the codes of their errors."""


class Asked(Struct, frozen=True, tag=True):
    """The process requests the figures of the others."""

    number: int
    """The number of the request."""


class Stop(Struct, frozen=True, tag=True):
    """Stop accepting, finish the work that has begun, and end."""


class Cut(Struct, frozen=True, tag=True):
    """End without finishing the work that has begun."""


class Count(Struct, frozen=True, tag=True):
    """Send `Counted`."""


class Answer(Struct, frozen=True, tag=True):
    """The figures of the other processes."""

    number: int
    """The number of the request."""
    figures: ServerFigures = ServerFigures()
    """The sum of the figures of all others, including processes that have ended."""
    troubles: dict[str, str] = {}
    """The failures of the process for background work."""


FromProcess: TypeAlias = Ready | Failed | Counted | Asked
ToProcess: TypeAlias = Stop | Cut | Count | Answer

_FROM_PROCESS: Final[msgspec.json.Decoder[FromProcess]] = msgspec.json.Decoder(FromProcess)
_TO_PROCESS: Final[msgspec.json.Decoder[ToProcess]] = msgspec.json.Decoder(ToProcess)


def send(connection: Connection, message: FromProcess | ToProcess) -> None:
    """Send a message. It is dropped if the receiver has ended."""
    with suppress(OSError):
        connection.send_bytes(zlib.compress(msgspec.json.encode(message), 1))


def receive_from_process(connection: Connection) -> FromProcess:
    """Receive the next message of a process.

    Raises:
        EOFError, OSError: the process has ended.
    """
    return _FROM_PROCESS.decode(zlib.decompress(connection.recv_bytes()))


class ProcessChannel:
    """The end of the pipe in a process that the supervisor has started."""

    def __init__(
        self,
        connection: Connection,
        *,
        is_first: bool = True,
        before: ProcessFigures = ProcessFigures(),  # noqa: B008 - frozen
    ) -> None:
        self.is_first = is_first
        """Whether no process of this kind has reported yet that it is ready."""
        self.before = before
        """The figures of workers when the server was started."""
        self._connection = connection
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._asked = 0
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()
        self._stop: Callable[[], None] = lambda: None
        self._cut: Callable[[], None] = lambda: None
        self._count: Callable[[], ServerFigures] = ServerFigures
        self._troubles: Callable[[], Mapping[str, str]] = dict
        self.stopping = threading.Event()
        """Set when the process has to end, because it was notified or the supervisor is gone."""

    def start(self) -> None:
        """Begin to listen, in a thread."""
        threading.Thread(target=self._listen, name="supervisor", daemon=True).start()

    def on_stop(self, stop: Callable[[], None], cut: Callable[[], None]) -> None:
        """Set the functions to call on `Stop` and on `Cut`. Both may be called more than once."""
        self._stop, self._cut = stop, cut
        if self.stopping.is_set():
            stop()

    def wait_for_stop(self) -> None:
        """Sleep in the main thread until the process has to end. A signal handler may interrupt this anywhere."""
        stopped = SimpleQueue[None]()  # waiting for `stopping` would hold a lock that the signal handler needs
        self.on_stop(lambda: stopped.put(None), lambda: None)
        stopped.get()

    def count_with(self, count: Callable[[], ServerFigures], troubles: Callable[[], Mapping[str, str]] = dict) -> None:
        """Set the functions that return the figures of this process and its current failures, from any thread."""
        self._count, self._troubles = count, troubles

    def ready(self, banner: str = "", before: ProcessFigures = ProcessFigures()) -> None:  # noqa: B008 - frozen
        """Report that connections are accepted, or that everything is prepared."""
        self._send(Ready(banner, before))

    def failed(self, message: str) -> None:
        """Report why this process cannot start."""
        self._send(Failed(message))

    def ended(self) -> None:
        """Report the figures for the last time."""
        self._send(self._counted())

    def stop(self) -> None:
        """Stop as on `Stop` of the supervisor."""
        self.stopping.set()
        self._stop()

    def ask(self) -> Answer:
        """Request the figures of the other processes. Blocks the calling thread.

        Raises:
            StoreUnavailable: the supervisor does not respond.
        """
        with self._asking:
            self._asked += 1
            self._send(Asked(self._asked))
            answer = self._answer_to(self._asked)
        if answer is None:
            raise StoreUnavailable("The supervisor process does not respond.", hint="Try again.")
        return answer

    def _answer_to(self, number: int) -> Answer | None:
        """The answer to a request, or None. Late answers to earlier requests are dropped."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with suppress(Empty):
            while True:
                answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
                if answer is None or answer.number == number:
                    return answer
        return None

    def _counted(self) -> Counted:
        return Counted(self._count(), dict(self._troubles()))

    def _send(self, message: FromProcess) -> None:
        with self._sending:
            send(self._connection, message)

    def _listen(self) -> None:
        try:
            while True:
                self._handle(_TO_PROCESS.decode(zlib.decompress(self._connection.recv_bytes())))
        except (EOFError, OSError):  # the supervisor is gone
            self._answers.put(None)
            self.stop()

    def _handle(self, message: ToProcess) -> None:
        match message:
            case Stop():
                self.stop()
            case Cut():
                self._cut()
            case Count():
                self._send(self._counted())
            case Answer():
                self._answers.put(message)
