"""`partita countries …`: import a list."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import click

from partita import Session
from partita.cli import DataFolder, echo_table, store_options
from partita.errors import OperationError
from partita_services.countries.handlers import Edit
from partita_services.countries.imports import Proposal, apply, propose, read_csv
from partita_services.countries.iso import iso_events
from partita_services.countries.model import TABLE


@click.group()
def countries() -> None:
    """Import country reference data."""


@countries.command("import")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--apply", "is_applied", is_flag=True, help="Write the changes, and delete countries missing from FILE.")
@click.option("--by", default="partita countries import", show_default=True, help="The author of the versions.")
@click.option("--reason", help="The reason for the changes; for the ISO list, by default that of each event.")
@store_options
def import_list(file: Path | None, data: DataFolder, *, is_applied: bool, by: str, reason: str | None) -> None:
    """Show what a list would change, and with --apply make the changes.

    FILE is a CSV file with alpha2Code, alpha3Code, numericCode and name, as the service exports it. Without FILE, the
    ISO 3166-1 list is imported. The list must be complete: with --apply, countries missing from it are deleted.
    """
    events = iso_events() if file is None else read_csv(_text_of(file))
    with closing(data.open_store()) as store:
        session = Session(store)
        session.create_tables([TABLE])
        proposals = session.run(propose(events, whole=True))
        _show(proposals)
        if is_applied and proposals:
            with click.progressbar(proposals, label="Writing versions") as shown:
                for proposal in shown:
                    session.run(apply(proposal.event, Edit(by, reason)))
    done = "added" if is_applied else "would be added; --apply adds them"
    click.echo(f"{len(proposals)} versions {done}." if proposals else "Nothing to change.")


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")  # spreadsheets begin UTF-8 with a byte order mark
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise OperationError(f"Line {line} of {file} is not UTF-8 text.", hint="Save it as UTF-8.") from None


def _show(proposals: Iterable[Proposal]) -> None:
    rows = [
        (
            proposal.verb,
            proposal.event.alpha2,
            proposal.event.at.date().isoformat() if proposal.event.at else "now",
            "; ".join(f"{change.field}: {change.before} -> {change.after}" for change in proposal.differences)
            or (proposal.event.content.name if proposal.event.content else ""),
        )
        for proposal in proposals
    ]
    if rows:
        echo_table(("change", "code", "from", "content"), rows)
