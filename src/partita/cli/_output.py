"""What commands print: aligned tables for people, JSON for programs."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
"""The option `--json`, which gives the command `as_json`."""


def echo_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value)))


def open_missing_streams() -> None:
    """Open what this process was started without, as `1>&-` does: other code takes it for granted.

    A file that is opened later would otherwise take its number, and what is printed would be written into that file.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - standard input, output and errors
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for good
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def give_up_output() -> None:
    """Drop what cannot be written: Python would try once more when it ends, and say so with a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = io.StringIO()


def echo_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in aligned columns under a header."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for number, line in enumerate(lines):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        click.secho(text, bold=number == 0)
