"""What commands print: aligned tables for people, JSON for programs."""

from __future__ import annotations

import io
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


def give_up_output() -> None:
    """Drop what cannot be written: Python would try once more when it ends, and say so with a traceback."""
    if sys.stdout is None:  # it was closed from the beginning
        return
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
