"""`python -m tests.fidelity URL`: run every probe on an endpoint, and print how it differs from AWS.

python -m tests.fidelity                                          our own server
python -m tests.fidelity http://127.0.0.1:8000                    any endpoint
python -m tests.fidelity ministack                                an engine that is started for the run
python -m tests.fidelity https://dynamodb.eu-west-1.amazonaws.com --report fidelity.json
python -m tests.fidelity --write                                  write docs/wire.md and the results of others
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.fidelity._cost import forecast
from tests.fidelity._probe import Probe, Result, all_probes, run_probe
from tests.fidelity._recorded import record
from tests.fidelity._report import docs_table, failures, rule_table, summary, with_table, write_report
from tests.fidelity._targets import LOCAL_TARGETS, is_aws, opened

PAGE: Final = Path(__file__).parents[2] / "docs/wire.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the probes, and return the exit status: 1 if one is different, 2 if a run on AWS was not confirmed."""
    options = _options(arguments)
    probes = [each for each in all_probes() if _is_wanted(each, options)]
    if options.write:
        by_target = {target: run(target, probes) for target in LOCAL_TARGETS}
        record(by_target)
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), docs_table(by_target)), encoding="utf-8")
        return 0
    if is_aws(options.endpoint) and not (_is_agreed(probes, options.endpoint) or options.yes):
        return 2
    results = run(options.endpoint, probes)
    print(failures(results))  # noqa: T201 - a program
    print(rule_table(results))  # noqa: T201
    print(f"{options.endpoint}: {summary(results)}")  # noqa: T201
    if options.report:
        write_report(options.report, options.endpoint, results)
    return int(any(result.outcome == "different" for result in results))


def run(target: str, probes: Sequence[Probe]) -> list[Result]:
    """Run these probes on an endpoint."""
    with opened(target) as api:
        return [run_probe(each, api) for each in probes]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    about = "Run every probe on an endpoint, and print how it differs from AWS."
    parser = argparse.ArgumentParser("python -m tests.fidelity", description=about)
    parser.add_argument("endpoint", nargs="?", default="ours", help="a URL, or ours, ministack or moto")
    parser.add_argument("--area", action="append", help="run only this module of probes (may be repeated)")
    parser.add_argument("--tier", type=int, action="append", help="run only this tier: 1, 2 or 3 (may be repeated)")
    parser.add_argument(
        "--billed", action="store_true", help="on AWS, include probes that cost more than their requests"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the table of docs/wire.md, and record the results of the other engines",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation before AWS is probed")
    return parser.parse_args(arguments)


def _is_wanted(probe: Probe, options: argparse.Namespace) -> bool:
    if probe.billed and is_aws(options.endpoint) and not options.billed:
        return False
    return (not options.area or probe.area in options.area) and (not options.tier or probe.tier in options.tier)


def _is_agreed(probes: Sequence[Probe], endpoint: str) -> bool:
    cost = forecast(probes)
    print(  # noqa: T201
        f"{len(probes)} probes make {cost.calls} calls to {endpoint}. They create {cost.tables} tables with names that "
        f"begin with partita-fidelity-, and delete them afterwards.\nThey consume about {cost.read:.0f} read and "
        f"{cost.write:.0f} write units: {100 * cost.dollars:.2f} cents. Continue? [y/N] ",
        end="",
        flush=True,
    )
    return sys.stdin.readline().strip().lower() == "y" if sys.stdin.isatty() else False


if __name__ == "__main__":
    sys.exit(main())
