"""`make coverage`: print the test coverage of the library, and fail if it is below the bars.

Lines and branches have separate bars; coverage's own `fail_under` has one bar for both together.
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
    """Return the percentages of lines and of branches that tests reach."""
    totals = report["totals"]
    return (
        100 * totals["covered_lines"] / max(1, totals["num_statements"]),
        100 * totals["covered_branches"] / max(1, totals["num_branches"]),
    )


def missing(report: Mapping[str, Any], count: int = 20) -> list[str]:
    """Return the files with the most lines that no test reaches."""
    files = sorted(report["files"].items(), key=lambda file: -file[1]["summary"]["missing_lines"])
    return [f"{file['summary']['missing_lines']:5} lines  {name}" for name, file in files[:count]]


def main(path: str) -> int:
    """Print the coverage. Return 1 if it is below a bar."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    lines, branches = shares(report)
    sys.stdout.write("\n".join([*missing(report), ""]))
    sys.stdout.write(
        f"lines {lines:.1f} % (at least {LINES:g} %), branches {branches:.1f} % (at least {BRANCHES:g} %)\n"
    )
    return int(lines < LINES or branches < BRANCHES)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
