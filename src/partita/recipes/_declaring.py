"""Declaring what a recipe sends by itself, so that everything a service sends is declared somewhere."""

from __future__ import annotations

from typing import Any

from partita.model import EntitySchema
from partita.patterns import DeclaredOperation, Permission


def declare(schema: EntitySchema[Any], verb: str, doc: str, *sends: tuple[Permission, ...]) -> None:
    """Register an operation of a recipe under the name that it is metered under: `WorkerLease.acquire`."""
    accesses = tuple(access for group in sends for access in group)
    schema.table.add_recipe(DeclaredOperation(f"{schema.name}.{verb}", accesses, doc))
