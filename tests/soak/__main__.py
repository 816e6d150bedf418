"""`python -m tests.soak`: all services under load for an hour; memory, open files, logs and latencies must stay flat.

    python -m tests.soak --minutes 60 --plot build/soak.svg

The exit status is 1 where something grows, a call fails, or what is stored is not what was acknowledged.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.cli.processes.servers import MAIN, Client, Command, authorization
from tests.faults._load import Load, money_of
from tests.faults._report import Tally
from tests.soak._plot import svg
from tests.soak._samples import Sample, growing, sampled

from partita import EmbeddedStore, Session

SERVED: Final = ("serve", "--all", "--workers", "1", "--rate-limit", "1000000/1000000")
READS: Final = (
    "/todo/api/tasks",
    "/accounts/api/accounts",
    "/events/api/events",
    "/countries/api/countries",
    "/healthz",
)
OK: Final = 400


class Callers:
    """Threads that call all services by turns, and how long each call took."""

    def __init__(self, command: Command, load: Load, count: int) -> None:
        self.over = threading.Event()
        self.failed: list[str] = []
        self._latencies: list[float] = []
        self._command, self._load = command, load
        self.threads = [threading.Thread(target=self._call) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _call(self) -> None:
        with Client(self._command.address, authorization(self._load.folder)) as client:
            while not self.over.is_set():
                for path in READS:
                    start = time.perf_counter()
                    status, body = client.send("GET", path)
                    self._latencies.append(time.perf_counter() - start)
                    if status >= OK:
                        self.failed.append(f"{path}: {status} {body!r:.100}")
                self._load.call_once(self._command.address, client)
                self.over.wait(0.01)

    def latencies(self) -> list[float]:
        """Those since the last time."""
        taken, self._latencies = self._latencies, []
        return taken

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the services under load, draw the samples, and judge them."""
    options = _options().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="partita-soak-") as folder:
        samples, wrong = _run(Path(folder), options.minutes * 60, options.every, options.callers)
    options.plot.parent.mkdir(parents=True, exist_ok=True)
    options.plot.write_text(svg(samples, f"{options.minutes:g} minutes of all services under load"), encoding="utf-8")
    wrong += growing(samples)
    print(f"\n{len(samples)} samples, drawn in {options.plot}")
    print("\n".join(f"WRONG {each}" for each in wrong) or "flat; no call failed; what was acknowledged is stored")
    return 1 if wrong else 0


def _run(folder: Path, seconds: float, every: float, count: int) -> tuple[list[Sample], list[str]]:
    subprocess.run([*MAIN, "seed", "--all", "--data", str(folder)], check=True, capture_output=True)
    with EmbeddedStore(folder / "partita.db") as store:
        money = money_of(Session(store))
    load, samples, tally = Load(folder), [], Tally()
    with Command(folder, *SERVED) as command:
        callers, start = Callers(command, load, count), time.monotonic()
        while (passed := time.monotonic() - start) < seconds:
            callers.over.wait(every)
            sample = sampled(passed, command.process.pid, folder, callers.latencies())
            samples.append(sample)
            print(
                f"{passed / 60:6.1f} min  {sample.memory_mb:7.0f} MB  {sample.descriptors:5.0f} files  "
                f"{sample.log_mb:6.1f} MB of log  {sample.median_ms:6.1f} ms  {load.acknowledged:,} writes",
                flush=True,
            )
        callers.stop()
        command.stop()
    load.check(tally, money)
    lost = [] if tally.is_sound else [f"{tally.lost} writes were lost, {tally.doubled} doubled; {tally.broken}"]
    return samples, [*callers.failed[:5], *lost]


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description="All services under load, sampled and judged."
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds from one sample to the next")
    parser.add_argument("--callers", type=int, default=3)
    parser.add_argument("--plot", type=Path, default=Path("build/soak.svg"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
