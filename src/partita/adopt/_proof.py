"""The proof of a model: every sampled item is of one entity, and is written back as it is stored."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita.errors import ModelError, PartitaError
from partita.model import Table
from partita.store import wire_item
from partita.values import Item, equal

ABSENT: Final = "(nothing)"
_SHOWN: Final = 100


class Difference(Struct, frozen=True):
    """One thing of one item that is not proved."""

    key: str
    entity: str
    """The entity that claims the item; empty where it is not one."""
    attribute: str
    stored: str
    written: str
    """What would be written; or why nothing can be said of it."""


class Proof(Struct, frozen=True):
    """What was proved of a sample, and what was not."""

    table: str
    items: int
    entities: dict[str, int]
    """How many items each entity has."""
    differences: tuple[Difference, ...]

    @property
    def holds(self) -> bool:
        """Whether everything is proved."""
        return not self.differences


def prove(table: Table, items: Sequence[Item]) -> Proof:
    """Read each item by the entity that claims it, write it back, and compare."""
    counts = {entity.name: 0 for entity in table.entities}
    differences: list[Difference] = []
    for item in items:
        owners = [entity for entity in table.entities if entity.owns(item)]
        key = ", ".join(f"{attribute.name}={item[attribute.name]!r}" for attribute in table.schema.key)
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


# --- in a process of its own, so that the module is imported as any program would, and leaves nothing behind ---


class ProofRequest(Struct):
    """What the other process is asked: the file, the name of the table in it, and the items as DynamoDB's JSON."""

    path: str
    name: str | None
    items: list[dict[str, Any]] | None


class ProofResponse(Struct):
    """What it says: the name that the table has in the store, and the proof; or what failed."""

    table: str = ""
    proof: Proof | None = None
    error: str = ""


def prove_file(path: Path, items: Sequence[Item], name: str | None = None) -> Proof:
    """The proof of a model in a file.

    Raises:
        ModelError: the file cannot be imported, or has no such table.
    """
    proof = _ask(ProofRequest(str(path), name, [wire_item(item) for item in items])).proof
    assert proof is not None  # noqa: S101 - it was asked for
    return proof


def table_in_file(path: Path, name: str | None = None) -> str:
    """The name of the table that a model in a file is about.

    Raises:
        ModelError: the file cannot be imported, or has no such table.
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
