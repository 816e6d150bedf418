"""From a sample to a model that is proved: what does not hold is kept as it is, and inferred again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from partita.adopt._draft import ModelDraft
from partita.adopt._infer import infer_model
from partita.adopt._proof import Proof, prove_file
from partita.adopt._render import render
from partita.store import TableSchema
from partita.values import Item

_TRIES: Final = 4


class Adoption(Struct, frozen=True):
    """A model as it was written, and what was proved of it."""

    draft: ModelDraft
    proof: Proof


def adopt_items(schema: TableSchema, items: Sequence[Item], path: Path) -> Adoption:
    """Infer a model, write it to the path, and prove it.

    Where an attribute would not be written back as it is stored, it is kept as it is in the next try: a key of an
    index becomes a field, and a field is left to `extra="allow"`.

    Raises:
        ModelError: what was written cannot be imported, which is a fault of Partita.
    """
    as_stored: frozenset[tuple[str, str]] = frozenset()
    for _ in range(_TRIES):
        draft = infer_model(schema, items, as_stored)
        path.write_text(render(draft), encoding="utf-8")
        proof = prove_file(path, items)
        failed = {(each.entity, each.attribute) for each in proof.differences if each.entity and each.attribute}
        if failed <= as_stored:
            break
        as_stored |= failed
    return Adoption(draft, proof)
