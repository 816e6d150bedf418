"""The output of commands: aligned tables for people, JSON for programs."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
"""The option `--json`, passed to the command as `as_json`."""


def echo_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value)))


def open_missing_streams() -> None:
    """Open the standard streams that this process was started without, as with `1>&-`: other code relies on them.

    Otherwise the next file that is opened gets the descriptor of such a stream, and output is written into that file.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - standard input, output and errors
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for good
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def replace_unencodable() -> None:
    """Print a character that the encoding of a terminal lacks, such as Latin-1, by its number: output must not fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """Drop output that cannot be written: Python would try again at exit, and fail with a traceback."""
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
