"""Fuzz one target in this process, which libFuzzer ends.

`python -m fuzz.worker TARGET FOLDER [libFuzzer's options]`
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

from fuzz.findings import Findings

with atheris.instrument_imports(include=["partita", "partita_services"]):
    from fuzz.targets import TARGETS, Target


def fuzz(target: Target, findings: Findings, options: list[str]) -> None:
    """Run the target until libFuzzer has reached its limits."""

    def one_input(data: bytes) -> None:
        try:
            target(data)
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            findings.add(data, error)

    atheris.Setup([sys.argv[0], *options], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    fuzz(TARGETS[sys.argv[1]], Findings(Path(sys.argv[2])), sys.argv[3:])
