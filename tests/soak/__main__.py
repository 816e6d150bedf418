"""`python -m tests.soak`: all services under load for an hour; memory, open files, logs and latencies must stay flat.

    python -m tests.soak --minutes 60 --plot build/soak.svg
    python -m tests.soak --minutes 10 --rate 80

Calls have a fixed rate in total, and the latency of each starts at the instant at which it was due.
The exit status is 1 if a measure grows, a call fails, or the stored data is not what was acknowledged.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.cli.processes.servers import MAIN, Client, Command, authorization
from tests.faults._load import Load, money_of
from tests.faults._report import Tally
from tests.soak._callers import Callers
from tests.soak._calls import Calls, log_in
from tests.soak._plot import svg
from tests.soak._samples import Sample, growing, sampled

from partita import EmbeddedStore, Session

SERVED: Final = ("serve", "--all", "--workers", "1", "--rate-limit", "1000000/1000000")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the services under load, plot the samples, and check them."""
    options = _options().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="partita-soak-") as folder:
        samples, wrong = _run(Path(folder), options)
    title = f"{options.minutes:g} minutes of all services, {options.rate:g} calls per second"
    options.plot.parent.mkdir(parents=True, exist_ok=True)
    options.plot.write_text(svg(samples, title), encoding="utf-8")
    wrong += growing(samples)
    print(f"\n{len(samples)} samples, plotted in {options.plot}")
    print(
        "\n".join(f"WRONG {each}" for each in wrong)
        or "Nothing grew, no call failed, and all acknowledged writes are stored."
    )
    return 1 if wrong else 0


def _run(folder: Path, options: argparse.Namespace) -> tuple[list[Sample], list[str]]:
    money, cookie = _seeded(folder)
    load, samples, tally = Load(folder), [], Tally()
    with Command(folder, *SERVED) as command:
        calls = Calls(load, lambda user: Client(command.address, authorization(folder, user) + cookie))
        callers, start = Callers(calls, options.callers, options.rate), time.monotonic()
        while (passed := time.monotonic() - start) < options.minutes * 60:
            callers.over.wait(options.every)
            sample = sampled(passed, command.process.pid, folder, callers.latencies())
            samples.append(sample)
            print(
                f"{passed / 60:6.1f} min  {sample.memory_mb:7.0f} MB  {sample.descriptors:5.0f} files  "
                f"{sample.log_mb:6.1f} MB of log  median {sample.median_ms:6.1f} ms  p99 {sample.p99_ms:6.1f} ms  "
                f"{load.acknowledged:,} writes",
                flush=True,
            )
        callers.stop()
        _, said = command.stop()
    load.check(tally, money)
    lost = [] if tally.is_sound else [f"{tally.lost} writes were lost, {tally.doubled} duplicated; {tally.broken}"]
    traces = ["the servers' log has a traceback"] if "Traceback" in said else []
    return samples, [*callers.failed[:5], *lost, *traces]


def _seeded(folder: Path) -> tuple[int, str]:
    """Write the sample data. Return the total balance of its accounts, and the cookie header of a signed-in browser."""
    subprocess.run([*MAIN, "seed", "--all", "--data", str(folder)], check=True, capture_output=True)
    with EmbeddedStore(folder / "partita.db") as store:
        db = Session(store)
        return money_of(db), log_in(db)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description="Run all services under load, and check samples of them."
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="duration of the run")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two samples")
    parser.add_argument("--rate", type=float, default=40.0, help="calls per second, of all callers in total")
    parser.add_argument("--callers", type=int, default=4, help="maximum number of concurrent calls")
    parser.add_argument("--plot", type=Path, default=Path("build/soak.svg"), help="file for the plot")
    return parser


if __name__ == "__main__":
    sys.exit(main())
