"""The benchmark harness: measure ratios, print and record them, and fail if a bar is not met.

python -m bench                       # all suites
python -m bench imports reads         # some of them
python -m bench --quick               # three rounds of each comparison
python -m bench plot                  # the plots and tables of the last run, into the documentation
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click
import msgspec

from bench import (
    acceptance,
    cdc,
    copy,
    events,
    idle,
    imports,
    ingest,
    pages,
    reads,
    remote,
    scale,
    services,
    vectors,
    wire,
    writes,
)
from bench._compare import QUICK, THOROUGH
from bench._page import with_tables
from bench._plot import svg
from bench._run import ROOT, Run, Suite, prepare_process, run, summary

SUITES: Final[dict[str, Suite]] = {
    "reads": reads.comparisons,
    "writes": writes.comparisons,
    "imports": imports.comparisons,
    "idle": idle.comparisons,
    "scale": scale.comparisons,
    "cdc": cdc.comparisons,
    "wire": wire.comparisons,
    "vectors": vectors.comparisons,
    "remote": remote.comparisons,
    "copy": copy.comparisons,
    "services": services.comparisons,
    "pages": pages.comparisons,
    "acceptance": acceptance.comparisons,
    "events": events.comparisons,
    "ingest": ingest.comparisons,
}
RECORD: Final = ROOT / "build" / "bench.json"
PLOTS: Final = ROOT / "docs" / "performance"
TITLES: Final = {
    "reads": "Reads from a file",
    "writes": "Durable writes",
    "imports": "Starting",
    "idle": "At rest",
    "scale": "Large files",
    "cdc": "Changes into the lake",
    "wire": "Servers of DynamoDB's protocol",
    "vectors": "Searches of vectors",
    "remote": "Clients of DynamoDB",
    "copy": "Copies",
    "services": "To-Do over HTTP",
    "pages": "Pages in a browser",
    "acceptance": "Requests for events that are accepted",
    "events": "Decisions of events",
    "ingest": "Events that are acknowledged",
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice((*SUITES, "plot")), metavar="[SUITE]... | plot")
@click.option("--quick", is_flag=True, help="Run only three rounds of each comparison, to check that everything works.")
@click.option("--json", "record", type=click.Path(path_type=Path, dir_okay=False), default=RECORD, show_default=True)
@click.option("--to", "folder", type=click.Path(path_type=Path, file_okay=False), default=PLOTS, show_default=True)
def main(names: tuple[str, ...], record: Path, folder: Path, *, quick: bool) -> None:
    """Run all suites, or the named ones, and write a record; `plot` brings it into the documentation."""
    if names == ("plot",):
        for file in draw(msgspec.json.decode(record.read_bytes(), type=Run), folder):
            click.echo(f"wrote {file}")
        return
    if "plot" in names:
        raise click.UsageError("Pass plot alone: it draws all suites of the last run.")
    chosen = {name: suite for name, suite in SUITES.items() if not names or name in names}
    command = " ".join(["python -m bench", *(["--quick"] if quick else []), *names])
    prepare_process()
    done = run(chosen, QUICK if quick else THOROUGH, command, click.echo)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_bytes(as_json(done))
    click.echo(f"{summary(done)}\nThe record is in {record}.")
    sys.exit(0 if done.passed else 1)


def draw(done: Run, folder: Path) -> list[Path]:
    """Write the plot of each suite of a run with its record into a folder, and the tables of the page of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for suite in dict.fromkeys(line.suite for line in done.lines):
        part = done.of_suite(suite)
        (folder / f"{suite}.json").write_bytes(as_json(part))
        written.append(folder / f"{suite}.svg")
        written[-1].write_text(svg(part, TITLES[suite]), encoding="utf-8")
    page = folder.with_suffix(".md")
    if page.exists():
        page.write_text(with_tables(page.read_text(encoding="utf-8"), records(folder)), encoding="utf-8")
        written.append(page)
    return written


def records(folder: Path) -> dict[str, Run]:
    """The records in a folder, by the names of their suites."""
    return {file.stem: msgspec.json.decode(file.read_bytes(), type=Run) for file in sorted(folder.glob("*.json"))}


def as_json(done: Run) -> bytes:
    """The record of a run as formatted JSON."""
    return msgspec.json.format(msgspec.json.encode(done)) + b"\n"


if __name__ == "__main__":
    main()
