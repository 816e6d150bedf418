"""What starting costs: importing the library, and importing boto3 and making a client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench._compare import Bar, Comparison, Side, compare
from bench._peer import SETTINGS

OURS = "from partita import EmbeddedStore, Entity, Session"  # what every program needs, however lazy the package is
THEIRS = f"import boto3; boto3.client('dynamodb', **{SETTINGS!r})"


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    yield compare(
        "importing partita, to boto3 with a client",
        Bar("at most", 0.5),
        _seconds(OURS, folder),
        _seconds(THEIRS, folder),
        repetitions=11,
    )


def _seconds(code: str, folder: Path) -> Side:
    timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"

    def measure() -> float:
        ended = subprocess.run(
            [sys.executable, "-I", "-c", timed], cwd=folder, check=True, capture_output=True, text=True
        )
        return float(ended.stdout)

    return measure
