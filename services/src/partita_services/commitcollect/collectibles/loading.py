"""Loading and retiring models. Both are idempotent."""

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
    """The result of loading a model."""

    ADDED = "added"
    CHANGED = "changed"
    BROUGHT_BACK = "brought back"
    UNCHANGED = "unchanged"


class PartsChanged(OperationError):
    """The stored model has another number of parts."""


def load_model(definition: ModelDefinition) -> Procedure[LoadOutcome]:
    """Store a model according to its definition; a retired model becomes available again.

    Raises:
        PartsChanged: the stored model has another number of parts, on which milestones depend.
        OperationError: the maximum number of models is reached.
    """
    model_id = definition.model_id
    before = yield from collectible(model_id).consistent()
    if before is not None and len(before.parts) != len(definition.parts):
        raise _parts_changed(model_id, len(before.parts))
    listed = yield from _listed()
    if model_id in listed and before is not None and (yield from _is_same(definition, before)):
        return LoadOutcome.UNCHANGED
    if model_id not in listed and len(listed) >= MAX_MODELS:
        raise OperationError(f"There are {MAX_MODELS} models, which is the maximum.")
    try:
        yield from save_model(definition.model, definition.stored_parts, definition.stored_picture)
    except TransactionCancelled as cancelled:
        now = yield from collectible(model_id).consistent()
        raise _parts_changed(model_id, len(now.parts) if now else 0) from cancelled
    if before is None:
        return LoadOutcome.ADDED
    return LoadOutcome.BROUGHT_BACK if before.model.retired_at is not None else LoadOutcome.CHANGED


def retire(model_id: str, now: float) -> Procedure[Model]:
    """Retire a model, so that no new milestone can use it. Existing milestones continue.

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
    """Return all models with their parts, including retired ones."""
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
    hint = "Load the new model with another model_id, and retire this one."
    stored = "1 part" if parts == 1 else f"{parts} parts"
    return PartsChanged(f"The model {model_id} has {stored}; the number of parts cannot change.", hint=hint)
