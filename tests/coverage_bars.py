"""`make coverage`: prints how much of the library the tests reach, and fails below the bars.

Lines and branches have a bar each; coverage's own `fail_under` knows only their sum.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

LINES: Final = 95.0
BRANCHES: Final = 90.0


def shares(report: Mapping[str, Any]) -> tuple[float, float]:
    """The shares of lines and of branches that were reached, in per cent."""
    totals = report["totals"]
    return (
        100 * totals["covered_lines"] / max(1, totals["num_statements"]),
        100 * totals["covered_branches"] / max(1, totals["num_branches"]),
    )


def missing(report: Mapping[str, Any], count: int = 20) -> list[str]:
    """The files with the most lines that no test reaches."""
    files = sorted(report["files"].items(), key=lambda file: -file[1]["summary"]["missing_lines"])
    return [f"{file['summary']['missing_lines']:5} lines  {name}" for name, file in files[:count]]


def main(path: str) -> int:
    """Say what was reached, and whether that is enough."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    lines, branches = shares(report)
    sys.stdout.write("\n".join([*missing(report), ""]))
    sys.stdout.write(
        f"lines {lines:.1f} % (at least {LINES:g} %), branches {branches:.1f} % (at least {BRANCHES:g} %)\n"
    )
    return int(lines < LINES or branches < BRANCHES)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
