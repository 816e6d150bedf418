"""The tables of the performance page, written from the records of their suites.

Each stands between two comments, of which the first names the suite:

<!-- figures: writes -->
…
<!-- end of figures -->

The table `missed` lists the lines of all suites whose bars are missed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from bench._compare import figure
from bench._plot import caption
from bench._run import Line, Run

_BLOCK: Final = re.compile(r"(?<=<!-- figures: )(\w+)( -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)
_HEADER: Final = (
    "| what, to what | ours | theirs | ratio | half of the rounds | required |\n"
    "| --- | ---: | ---: | ---: | ---: | --- |\n"
)
MISSED: Final = "missed"


def tables_of(page: str) -> list[str]:
    """The names of the tables of a page, in their order."""
    return [found[1] for found in _BLOCK.finditer(page)]


def with_tables(page: str, records: Mapping[str, Run]) -> str:
    """The page with its tables written again from the records; a table without a record stays as it is."""

    def written(block: re.Match[str]) -> str:
        name = block[1]
        if name == MISSED:
            return f"{name}{block[2]}{missed(records)}"
        return f"{name}{block[2]}{table(records[name])}" if name in records else block[0]

    return _BLOCK.sub(written, page)


def table(run: Run) -> str:
    """The lines of a run, the notes on them, and its command, commit and machine."""
    rows = "".join(_row(line) for line in run.lines)
    notes = "".join(f"- {line.note}\n" for line in run.lines if line.note)
    skipped = "".join(f"- skipped: {line.name}: {line.why}\n" for line in run.skipped)
    remarks = f"\n{notes}{skipped}" if notes or skipped else ""
    return f"\n{_HEADER}{rows}{remarks}\n`{run.command}` at {_where(run)}.\n\n"


def missed(records: Mapping[str, Run]) -> str:
    """How many lines of all records meet their bars, and the table of the others."""
    lines = [line for name in sorted(records) for line in records[name].lines]
    failed = [line for line in lines if not line.passed]
    if not failed:
        return f"\nAll {len(lines)} lines meet their bars.\n\n"
    rows = "".join(_row(replace(line, name=f"{line.suite}: {line.name}")) for line in failed)
    return f"\n{len(lines) - len(failed)} of {len(lines)} lines meet their bars. The others:\n\n{_HEADER}{rows}\n"


def _row(line: Line) -> str:
    ours, theirs = figure(line.ours, line.unit), figure(line.theirs, line.unit)
    verdict = "" if line.passed else " **missed**"
    spread = f"{line.low:.2f} to {line.high:.2f}"
    return f"| {line.name} | {ours} | {theirs} | {line.ratio:.2f} | {spread} | {line.bar}{verdict} |\n"


def _where(run: Run) -> str:
    """The commit, the date and the machine of a run."""
    _, _, measured = caption(run).partition(f"{run.command} at ")
    return f"{measured} of {run.machine['processor']}, load {run.machine['load']}, Python {run.versions['python']}"
