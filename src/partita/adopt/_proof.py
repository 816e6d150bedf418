"""The proof of a model: every sampled item belongs to exactly one entity, and is written back as it is stored."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita.adopt._few import key_text
from partita.errors import ModelError, PartitaError
from partita.model import Table
from partita.store import wire_item
from partita.values import Item, equal

ABSENT: Final = "(nothing)"
_SHOWN: Final = 100


class Difference(Struct, frozen=True):
    """One difference in one item, for which the model is not proved."""

    key: str
    entity: str
    """The entity that claims the item; empty unless exactly one does."""
    attribute: str
    stored: str
    written: str
    """The value that would be written, or why it cannot be determined."""


class Proof(Struct, frozen=True):
    """What was proved for a sample, and what was not."""

    table: str
    items: int
    entities: dict[str, int]
    """The number of items of each entity."""
    differences: tuple[Difference, ...]

    @property
    def holds(self) -> bool:
        """Whether everything is proved."""
        return not self.differences


def prove(table: Table, items: Sequence[Item]) -> Proof:
    """Read each item with the entity that claims it, write it back, and compare."""
    counts = {entity.name: 0 for entity in table.entities}
    differences: list[Difference] = []
    for item in items:
        owners = [entity for entity in table.entities if entity.owns(item)]
        key = key_text(item, table.schema)
        if len(owners) != 1:
            said = "no entity claims it" if not owners else f"claimed by {', '.join(each.name for each in owners)}"
            differences.append(Difference(key, "", "", "", said))
            continue
        counts[owners[0].name] += 1
        differences += _compared(owners[0], item, key)
    return Proof(table.name, len(items), counts, tuple(differences))


def _compared(entity: Any, item: Item, key: str) -> list[Difference]:
    try:
        written = entity.item(entity.entity(item))
    except PartitaError as error:
        return [Difference(key, entity.name, "", "", str(error).splitlines()[0])]
    names = dict.fromkeys((*item, *written))
    return [
        Difference(key, entity.name, name, _shown(item, name), _shown(written, name))
        for name in names
        if name not in item or name not in written or not equal(item[name], written[name])
    ]


def _shown(item: Item, name: str) -> str:
    if name not in item:
        return ABSENT
    text = msgspec.json.encode(wire_item({name: item[name]})[name]).decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


# --- in a separate process, so that the module is imported as in any program, and leaves nothing behind ---


class ProofRequest(Struct):
    """The request to the other process: the file, the name of the table in it, and the items as DynamoDB JSON."""

    path: str
    name: str | None
    items: list[dict[str, Any]] | None


class ProofResponse(Struct):
    """Its response: the name of the table in the store, and the proof; or the error."""

    table: str = ""
    proof: Proof | None = None
    error: str = ""


def prove_file(path: Path, items: Sequence[Item], name: str | None = None) -> Proof:
    """Prove a model in a file.

    Raises:
        ModelError: the file cannot be imported, or does not define the table.
    """
    proof = _ask(ProofRequest(str(path), name, [wire_item(item) for item in items])).proof
    assert proof is not None  # noqa: S101 - the request contains items
    return proof


def table_in_file(path: Path, name: str | None = None) -> str:
    """Return the name of the table that a model in a file describes.

    Raises:
        ModelError: the file cannot be imported, or does not define the table.
    """
    return _ask(ProofRequest(str(path), name, None)).table


def _ask(request: ProofRequest) -> ProofResponse:
    said = subprocess.run(
        [sys.executable, "-m", "partita.adopt._proof_process"],
        input=msgspec.json.encode(request),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
        capture_output=True,
    )
    if said.returncode != 0:
        raise ModelError(f"{request.path} could not be proved: {_last_line(said.stderr)}.")
    response = msgspec.json.decode(said.stdout, type=ProofResponse)
    if response.error:
        raise ModelError(f"{request.path}: {response.error}")
    return response


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no reason was given"
