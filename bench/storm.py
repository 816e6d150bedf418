"""Run a storm against its own server and workers, which may be killed meanwhile: `python -m bench.storm --kills 3`."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random

from partita.cli import DataFolder, identity_of
from partita_services.events.loadtest.server import Server

COMMAND = [sys.executable, "-c", "from partita.cli import main; main()"]
LOOK_SECONDS = 0.05
PATIENCE = 120.0


class Rig:
    """A server and a process with workers, which can be killed and restarted on the same data."""

    def __init__(self, folder: Path, workers: int, elsewhere: Sequence[str] = ()) -> None:
        self.data = folder / "data"
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._workers = workers
        self._shared = ["--data", str(self.data), *elsewhere]
        self._log = (folder / "rig.log").open("ab")
        self._server = self._serve()
        self._wait_until_served()
        self._pool = self._work() if workers else None

    def _serve(self) -> subprocess.Popen[bytes]:
        return self._start("serve", "events", "--port", str(self.port), "--workers", "0", "--no-seed")

    def _work(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "events", "--workers", str(self._workers))

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*COMMAND, *arguments, *self._shared], stdout=self._log, stderr=self._log)

    def _wait_until_served(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._server.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(LOOK_SECONDS)
        raise RuntimeError(f"The server did not start; see {self._log.name}.")

    def kill_server(self) -> None:
        """Kill the server with `kill -9`, and restart it."""
        self._server.kill()
        self._server.wait()
        self._server = self._serve()

    def kill_workers(self, random: Random) -> None:
        """Kill half of the workers with `kill -9`; their parent process replaces them."""
        if self._pool is None:
            return
        children = Path(f"/proc/{self._pool.pid}/task/{self._pool.pid}/children").read_text().split()
        for child in random.sample(children, len(children) // 2):
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)

    def stop(self) -> None:
        """Stop both, and let them finish the work that they have begun."""
        for process in (self._pool, self._server):
            if process is not None:
                process.terminate()
                process.wait(timeout=60)
        self._log.close()


@contextmanager
def rigged(folder: Path, workers: int, elsewhere: Sequence[str] = ()) -> Iterator[Rig]:
    """Run a rig, and stop it at the end."""
    rig = Rig(folder, workers, elsewhere)
    try:
        yield rig
    finally:
        rig.stop()


def storm(
    rig: Rig,
    users: int,
    capacity: int,
    *,
    kills: int = 0,
    cancellations: float = 0.0,
    connections: int = 64,
    patience: float = PATIENCE,
) -> tuple[int, str]:
    """Run a storm with `kills` kills of the server and half of the workers; return its exit status and output."""
    sizes = ["--users", str(users), "--capacity", str(capacity), "--connections", str(connections)]
    sizes += ["--cancellations", str(cancellations)]
    where = ["--url", rig.url, "--data", str(rig.data), "--patience", str(patience)]
    before = _newest_event(rig)
    process = subprocess.Popen(
        [*COMMAND, "events", "storm", *sizes, *where], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    random = Random(1)
    for number in range(kills):
        _wait_for_requests(rig, process, before, users * (number + 1) // (kills + 1))
        rig.kill_workers(random)
        rig.kill_server()
    printed, _ = process.communicate()
    return process.returncode, printed


def _wait_for_requests(rig: Rig, storm: subprocess.Popen[str], before: str | None, wanted: int) -> None:
    """Wait until `wanted` requests are stored for an event that is newer than `before`."""
    with closing(_asked(rig)) as server:
        while storm.poll() is None:
            newest = server.newest_event()
            if newest not in (None, before) and server.figures(newest)["requests"] >= wanted:
                return
            time.sleep(LOOK_SECONDS)


def _newest_event(rig: Rig) -> str | None:
    with closing(_asked(rig)) as server:
        return server.newest_event()


def _asked(rig: Rig) -> Server:
    return Server(rig.url, identity_of(DataFolder(rig.data)), PATIENCE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    """Run one storm, and print the auditor's report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--users", type=int, default=20_000)
    options.add_argument("--capacity", type=int, default=500)
    options.add_argument("--workers", type=int, default=8)
    options.add_argument("--kills", type=int, default=0)
    options.add_argument("--cancellations", type=float, default=0.2)
    options.add_argument("--store")
    options.add_argument("--queue")
    given = options.parse_args()
    elsewhere = [
        part for name in ("store", "queue") if getattr(given, name) for part in (f"--{name}", getattr(given, name))
    ]
    with (
        tempfile.TemporaryDirectory(prefix="partita-storm-") as folder,
        rigged(Path(folder), given.workers, elsewhere) as rig,
    ):
        status, printed = storm(rig, given.users, given.capacity, kills=given.kills, cancellations=given.cancellations)
    print(printed)
    return status


if __name__ == "__main__":
    sys.exit(main())
