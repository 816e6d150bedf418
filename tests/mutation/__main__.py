"""`python -m tests.mutation`: plant random faults in the services or in the library's core, and count the caught ones.

    python -m tests.mutation --count 100 --seed 1
    python -m tests.mutation --only events/queueing/sweeper.py --count 20
    python -m tests.mutation --of core --count 150
    python -m tests.mutation --past

Faults are chosen at random from all rule modules; the same seed chooses the same faults. A run first records
which tests reach which lines; `--reach FILE` stores that for the next run.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec
from tests.mutation.faults import Fault, faults_of
from tests.mutation.past import tried
from tests.mutation.reach import Reach
from tests.mutation.subjects import SUBJECTS, Subject
from tests.mutation.trial import check_control, reaching_tests, read_reach, try_faults


def chosen(subject: Subject, seed: int, count: int, only: str = "") -> list[Fault]:
    """Choose faults at random; a seed always chooses the same ones as long as the sources do not change."""
    found = [fault for path in subject.rule_modules() for fault in faults_of(subject.source, path)]
    faults = [fault for fault in found if fault.module.startswith(only)]
    random.Random(seed).shuffle(faults)
    readable = (fault for fault in faults if fault.can_be_read((subject.source / fault.module).read_bytes()))
    return list(islice(readable, count))


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults, print the ones that no test caught, and return 1 if fewer than `--bar` percent were caught."""
    options = _options().parse_args(arguments)
    if options.past:
        return _put_back(options.only)
    subject = SUBJECTS[options.of]
    faults = chosen(subject, options.seed, options.count, options.only)[options.skip :]
    reach = _reach(options.reach, subject)
    check_control(next(fault for fault in faults if reaching_tests(fault, reach, subject)), reach, subject)
    verdicts = []
    for verdict in try_faults(faults, reach, subject, options.jobs):
        verdicts.append(verdict)
        print(f"{len(verdicts):4} {verdict}", flush=True)
    missed = [verdict for verdict in verdicts if not verdict.is_caught]
    caught = len(verdicts) - len(missed)
    print(f"\nSeed {options.seed}: {caught} of {len(verdicts)} faults were caught.")
    for verdict in missed:
        print(f"  {verdict.outcome}: {verdict.fault}")
    bar = subject.bar if options.bar is None else options.bar
    return 0 if caught * 100 >= bar * len(verdicts) else 1


def _put_back(only: str) -> int:
    unnoticed = 0
    for bug, is_noticed, said in tried(only):
        unnoticed += not is_noticed
        print(f"{'noticed' if is_noticed else 'UNNOTICED':9}  {bug.name}: {bug.about}\n{'':11}{said}", flush=True)
    return 1 if unnoticed else 0


def _reach(file: Path | None, subject: Subject) -> Reach:
    if file is not None and file.exists():
        return msgspec.json.decode(file.read_bytes(), type=Reach)
    if file is not None:
        return read_reach(file, subject)
    with tempfile.TemporaryDirectory(prefix="partita-reach-") as folder:
        return read_reach(Path(folder) / "reach.json", subject)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description="Plant faults, and count the ones that the tests catch."
    )
    parser.add_argument("--of", choices=list(SUBJECTS), default="services", help="where to plant the faults")
    parser.add_argument(
        "--past",
        action="store_true",
        help="put past bugs back instead; --only D2 selects those whose names begin with D2",
    )
    parser.add_argument("--count", type=int, default=100, help="number of faults")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice")
    parser.add_argument("--skip", type=int, default=0, help="number of faults to skip, tried by an earlier run")
    parser.add_argument("--only", default="", help="prefix of the paths of the modules, such as events/queueing")
    parser.add_argument("--reach", type=Path, help="file that stores which tests reach which lines")
    parser.add_argument("--jobs", type=int, default=1, help="number of faults to try in parallel")
    parser.add_argument(
        "--bar", type=int, help="percentage that must be caught; default: 90 for the services, 85 for the core"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
