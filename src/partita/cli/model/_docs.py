"""`partita docs`: a page for each service, generated from its model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from partita.cli._names import services_argument
from partita.cost import measure
from partita.modeldocs import render_page
from partita.service import Service


@click.command()
@services_argument
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("docs/services"),
    show_default=True,
    help="Folder of the pages; each is called SERVICE-model.md.",
)
@click.option("--check", is_flag=True, help="Write nothing, and exit with 1 if a page is not current.")
def docs(services: Sequence[Service], out: Path, *, check: bool) -> None:
    """Write a page on the model of each service.

    A page shows the entities, their keys, the access patterns with their measured cost, the lifecycles, and the
    consumers of changes.
    """
    pages = [_update(out / f"{service.name}-model.md", service, check=check) for service in services]
    outdated = [path for path in pages if path is not None]
    for path in outdated:
        click.echo(f"{path}: {'not current' if check else 'written'}")
    if not outdated:
        click.echo("All pages are current.")
    elif check:
        raise click.ClickException("Run `partita docs` to update the pages.")


def _update(path: Path, service: Service, *, check: bool) -> Path | None:
    """Update a page; return its path, or None if it was current."""
    page = render_page(service, measure(service))
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == page:
        return None
    if not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    return path
