"""`partita openapi`: write the OpenAPI description of each service to a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from partita.cli._extras import needs_serve
from partita.cli._names import services_argument
from partita.service import Service


@click.command()
@services_argument
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("docs/openapi"),
    show_default=True,
    help="Folder of the files; each is called SERVICE.json.",
)
@click.option("--check", is_flag=True, help="Write nothing, and exit with 1 if a file is not current.")
@needs_serve
def openapi(services: Sequence[Service], out: Path, *, check: bool) -> None:
    """Write the OpenAPI description of each service.

    The file has what the service serves at /SERVICE/api/openapi.json, with sorted names, so that two versions can be
    compared.
    """
    from partita.app import describe_apis

    described = {name: each for service in services for name, each in describe_apis(service).items()}
    texts = {out / f"{name}.json": _text(description) for name, description in described.items()}
    outdated = [path for path, text in texts.items() if not _is_current(path, text)]
    for path in outdated:
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
        click.echo(f"{path}: {'not current' if check else 'written'}")
    if not outdated:
        click.echo("All descriptions are current.")
    elif check:
        raise click.ClickException("Run `partita openapi` to update the descriptions.")


def _text(description: dict[str, Any]) -> str:
    return f"{json.dumps(description, indent=2, sort_keys=True, ensure_ascii=False)}\n"


def _is_current(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text
