"""Loading models and retiring them. Run again, both change nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from partita import Procedure
from partita.errors import ItemMissing, OperationError, TransactionCancelled
from partita_services.commitcollect.collectibles.definition import ModelDefinition
from partita_services.commitcollect.collectibles.model import (
    MAX_MODELS,
    CatalogueEntry,
    Collectible,
    Model,
    catalogue,
    collectible,
    model_by_id,
    picture_of,
    retire_model,
    save_model,
)


class LoadOutcome(StrEnum):
    """What loading a model has done."""

    ADDED = "added"
    CHANGED = "changed"
    BROUGHT_BACK = "brought back"
    UNCHANGED = "unchanged"


class PartsChanged(OperationError):
    """A model that is there has another number of parts."""


def load_model(definition: ModelDefinition) -> Procedure[LoadOutcome]:
    """Make a model what it is defined to be; a retired one comes back.

    Raises:
        PartsChanged: there is one with another number of parts, by which milestones count.
        OperationError: there are as many models as there may be.
    """
    model_id = definition.model_id
    before = yield from collectible(model_id).consistent()
    if before is not None and len(before.parts) != len(definition.parts):
        raise _parts_changed(model_id, len(before.parts))
    listed = yield from _listed()
    if model_id in listed and before is not None and (yield from _is_same(definition, before)):
        return LoadOutcome.UNCHANGED
    if model_id not in listed and len(listed) >= MAX_MODELS:
        raise OperationError(f"There are {MAX_MODELS} models, and no more may be.")
    try:
        yield from save_model(definition.model, definition.stored_parts, definition.stored_picture)
    except TransactionCancelled as cancelled:
        now = yield from collectible(model_id).consistent()
        raise _parts_changed(model_id, len(now.parts) if now else 0) from cancelled
    if before is None:
        return LoadOutcome.ADDED
    return LoadOutcome.BROUGHT_BACK if before.model.retired_at is not None else LoadOutcome.CHANGED


def retire(model_id: str, now: float) -> Procedure[Model]:
    """Let no milestone begin with a model any more. Those that have begun go on.

    Raises:
        ItemMissing: there is no such model.
    """
    model = yield from model_by_id(model_id).consistent()
    if model is None:
        raise ItemMissing(f"There is no model {model_id}.", hint="`partita commitcollect models list` shows all.")
    if model.retired_at is not None:
        return model
    return (yield from retire_model(model_id, datetime.fromtimestamp(now, UTC)))


def all_models() -> Procedure[list[Collectible]]:
    """All models with their parts, retired ones too."""
    found: list[Collectible] = []
    for model_id in (yield from _listed()):
        one = yield from collectible(model_id)
        found += [one] if one is not None else []
    return found


def _listed() -> Procedure[list[str]]:
    entries: list[CatalogueEntry] = list((yield from catalogue().consistent().page(MAX_MODELS)))
    return [entry.model_id for entry in entries]


def _is_same(definition: ModelDefinition, stored: Collectible) -> Procedure[bool]:
    picture = yield from picture_of(definition.model_id).consistent()
    return (stored.model, list(stored.parts), picture) == (
        definition.model,
        definition.stored_parts,
        definition.stored_picture,
    )


def _parts_changed(model_id: str, parts: int) -> PartsChanged:
    hint = "Load it under another model_id, and retire this one."
    return PartsChanged(f"The model {model_id} has {parts} parts, and milestones count by them.", hint=hint)
