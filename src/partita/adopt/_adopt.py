"""Infer a model from a sample, write it to a file, and prove it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from partita.adopt._draft import ModelDraft
from partita.adopt._infer import infer_model
from partita.adopt._proof import Proof, prove_file
from partita.adopt._render import render
from partita.runtime import disk_error
from partita.store import TableSchema
from partita.values import Item


class Adoption(Struct, frozen=True):
    """A model that was written, and its proof."""

    draft: ModelDraft
    proof: Proof


def adopt_items(schema: TableSchema, items: Sequence[Item], path: Path) -> Adoption:
    """Infer a model, write it to the path, and prove what was written.

    Raises:
        StoreError: the path cannot be written; a file that is there does not change.
        ModelError: the written model cannot be imported, which is a bug in Partita.
    """
    draft = infer_model(schema, items)
    _write(path, render(draft))
    return Adoption(draft, prove_file(path, items))


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.partial")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        raise disk_error(error, f"The file {path} cannot be written") from error
