"""`python -m tests.faults`: faults with real processes, files and disks, and a table of the results.

    python -m tests.faults
    python -m tests.faults --only kill-writers --rounds 1000 --seed 1
    python -m tests.faults --list

The seed determines when processes are killed and which bytes change; the system determines how processes interleave.
The exit status is 1 if an acknowledged write is lost or duplicated, or if an invariant does not hold.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.faults import _disk, _kills, _surroundings
from tests.faults._report import Fault, Tally, table

FAULTS: Final = (*_kills.FAULTS, *_disk.FAULTS, *_surroundings.FAULTS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the faults, and print the table."""
    options = _options().parse_args(arguments)
    if options.list:
        print("\n".join(f"{fault.name:<15} {fault.rounds:>4} rounds  {fault.about}" for fault in FAULTS))
        return 0
    chosen = [fault for fault in FAULTS if not options.only or fault.name in options.only]
    tallies = {fault.name: _played(fault, options.rounds or fault.rounds, options.seed) for fault in chosen}
    print(f"\n{table(tallies)}\n\nSeed {options.seed}.")
    for name, tally in tallies.items():
        for broken in tally.broken[:5]:
            print(f"{name}: {broken}")
    return 0 if all(tally.is_sound for tally in tallies.values()) else 1


def _played(fault: Fault, rounds: int, seed: int) -> Tally:
    print(f"{fault.name}: {fault.about} ...", end=" ", flush=True)
    tally, start, over = Tally(), time.monotonic(), threading.Event()
    threading.Thread(target=_show, args=(tally, over), daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="partita-faults-", ignore_cleanup_errors=True) as folder:
        try:
            fault.run(Path(folder), rounds, random.Random(f"{seed}/{fault.name}"), tally)
        except Exception as error:  # noqa: BLE001 - any error counts as a broken invariant
            tally.broken.append(f"{type(error).__name__}: {error}")
        finally:
            over.set()
    print(f"{tally.rounds:,} rounds in {time.monotonic() - start:,.0f} s", flush=True)
    return tally


def _show(tally: Tally, over: threading.Event) -> None:
    """Print the number of rounds every ten seconds."""
    while not over.wait(10):
        print(f"{tally.rounds:,} ...", end=" ", flush=True)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description="Run faults with real processes, files and disks."
    )
    names = [fault.name for fault in FAULTS]
    parser.add_argument(
        "--only", action="append", choices=names, metavar="NAME", help="run only this fault (may be repeated)"
    )
    parser.add_argument("--rounds", type=int, help="number of rounds of each fault; default: its own number")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choices")
    parser.add_argument("--list", action="store_true", help="list the faults, and run none")
    return parser


if __name__ == "__main__":
    sys.exit(main())
