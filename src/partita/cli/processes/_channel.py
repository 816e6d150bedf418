"""What the supervisor and a process that serves say to each other, over one pipe.

    process ──> supervisor   Ready, Failed, Counted, Asked
    supervisor ──> process   Stop, Cut, Count, Answer

A process that is asked counts in memory and responds at once, from a thread that does nothing else.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from partita.errors import StoreUnavailable
from partita.reports import ProcessFigures, ServerFigures

PATIENCE_SECONDS: Final = 10.0
"""How long a process waits for an answer: several times what the supervisor waits for the others."""


class Ready(Struct, frozen=True, tag=True):
    """The process accepts connections; the one for background work has prepared everything."""

    banner: str = ""
    """What the first of them says to whoever has started the server."""
    before: ProcessFigures = ProcessFigures()
    """What workers had counted by then; the process for background work knows it."""


class Failed(Struct, frozen=True, tag=True):
    """The process cannot begin."""

    message: str


class Counted(Struct, frozen=True, tag=True):
    """What the process has counted since it was started."""

    figures: ServerFigures
    troubles: dict[str, str] = {}
    """What it cannot go on with."""


class Asked(Struct, frozen=True, tag=True):
    """The process wants to know how the others are doing."""

    number: int
    """Of the question."""


class Stop(Struct, frozen=True, tag=True):
    """Accept no more, finish what has begun, and end."""


class Cut(Struct, frozen=True, tag=True):
    """Finish nothing more."""


class Count(Struct, frozen=True, tag=True):
    """Say what you have counted."""


class Answer(Struct, frozen=True, tag=True):
    """How the others are doing."""

    number: int
    """Of the question."""
    figures: ServerFigures = ServerFigures()
    """What all others have counted, also those that have ended."""
    troubles: dict[str, str] = {}
    """What the process for background work cannot go on with."""


FromProcess: TypeAlias = Ready | Failed | Counted | Asked
ToProcess: TypeAlias = Stop | Cut | Count | Answer

_FROM_PROCESS: Final[msgspec.json.Decoder[FromProcess]] = msgspec.json.Decoder(FromProcess)
_TO_PROCESS: Final[msgspec.json.Decoder[ToProcess]] = msgspec.json.Decoder(ToProcess)


def send(connection: Connection, message: FromProcess | ToProcess) -> None:
    """Send a message; one to whoever has ended is dropped."""
    with suppress(OSError):
        connection.send_bytes(zlib.compress(msgspec.json.encode(message), 1))


def receive_from_process(connection: Connection) -> FromProcess:
    """The next message of a process.

    Raises:
        EOFError, OSError: it has ended.
    """
    return _FROM_PROCESS.decode(zlib.decompress(connection.recv_bytes()))


class ProcessChannel:
    """The end of the pipe that a process has."""

    def __init__(
        self,
        connection: Connection,
        *,
        is_first: bool = True,
        before: ProcessFigures = ProcessFigures(),  # noqa: B008 - frozen
    ) -> None:
        self.is_first = is_first
        """Whether nobody has said yet that the server is ready."""
        self.before = before
        """What workers had counted when the server was started."""
        self._connection = connection
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._asked = 0
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()
        self._stop: Callable[[], None] = lambda: None
        self._cut: Callable[[], None] = lambda: None
        self._count: Callable[[], ServerFigures] = ServerFigures
        self._troubles: Mapping[str, str] = {}
        self.stopping = threading.Event()
        """Set when the process has to end: it was told so, or nobody is left who could tell."""

    def start(self) -> None:
        """Begin to listen, in a thread."""
        threading.Thread(target=self._listen, name="supervisor", daemon=True).start()

    def on_stop(self, stop: Callable[[], None], cut: Callable[[], None]) -> None:
        """What to call when the process has to end, and when at once. Both may be called more than once."""
        self._stop, self._cut = stop, cut
        if self.stopping.is_set():
            stop()

    def wait_for_stop(self) -> None:
        """Sleep in the main thread until the process has to end. A signal's handler may interrupt that anywhere."""
        stopped = SimpleQueue[None]()  # to wait for `stopping` would take a lock that the handler needs
        self.on_stop(lambda: stopped.put(None), lambda: None)
        stopped.get()

    def count_with(
        self, count: Callable[[], ServerFigures], troubles: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """What gives the figures of this process, from any thread, and what it cannot go on with."""
        self._count, self._troubles = count, troubles

    def ready(self, banner: str = "", before: ProcessFigures = ProcessFigures()) -> None:  # noqa: B008 - frozen
        """Say that connections are accepted, or that all is prepared."""
        self._send(Ready(banner, before))

    def failed(self, message: str) -> None:
        """Say why this process cannot begin."""
        self._send(Failed(message))

    def ended(self) -> None:
        """Say for the last time what was counted."""
        self._send(self._counted())

    def stop(self) -> None:
        """End, as if the supervisor had said so."""
        self.stopping.set()
        self._stop()

    def ask(self) -> Answer:
        """How the other processes are doing; from a thread that may wait.

        Raises:
            StoreUnavailable: the supervisor does not answer.
        """
        with self._asking:
            self._asked += 1
            self._send(Asked(self._asked))
            answer = self._answer_to(self._asked)
        if answer is None:
            raise StoreUnavailable("The process that started this one does not answer.", hint="Try again.")
        return answer

    def _answer_to(self, number: int) -> Answer | None:
        """The answer; those to earlier questions came too late, and are dropped."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with suppress(Empty):
            while True:
                answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
                if answer is None or answer.number == number:
                    return answer
        return None

    def _counted(self) -> Counted:
        return Counted(self._count(), dict(self._troubles))

    def _send(self, message: FromProcess) -> None:
        with self._sending:
            send(self._connection, message)

    def _listen(self) -> None:
        try:
            while True:
                self._heard(_TO_PROCESS.decode(zlib.decompress(self._connection.recv_bytes())))
        except (EOFError, OSError):  # whoever has started this process is gone
            self._answers.put(None)
            self.stop()

    def _heard(self, message: ToProcess) -> None:
        match message:
            case Stop():
                self.stop()
            case Cut():
                self._cut()
            case Count():
                self._send(self._counted())
            case Answer():
                self._answers.put(message)
