"""The order of the lists on a page: as the modules of a service declare them, independent of the import order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from partita.model import EntitySchema, Table
from partita.patterns import DeclaredOperation, KeyLayout, Pattern, layout

T = TypeVar("T")


def in_order(declared: Iterable[T], module_of: Callable[[T], str]) -> list[T]:
    """Sort by module, stably: modules of a package before those of its subpackages, these by name."""
    return sorted(declared, key=lambda each: (module_of(each).count("."), module_of(each)))


def entities_of(table: Table) -> list[EntitySchema[Any]]:
    """The entities of a table."""
    return in_order(table.entities, _module_of)


def keys_of(table: Table) -> list[KeyLayout]:
    """The keys of all entities of a table."""
    places = {entity.name: place for place, entity in enumerate(entities_of(table))}
    return sorted(layout(table), key=lambda key: places[key.entity])


def patterns_of(table: Table) -> list[Pattern]:
    """The access patterns of a table. Patterns made by a recipe are listed with the module of their entity."""

    def module_of(pattern: Pattern) -> str:
        module = "" if pattern.function is None else inspect.unwrap(pattern.function).__module__
        is_made = not module or module.startswith("partita.patterns.")
        return module if pattern.entity is None or not is_made else _module_of(pattern.entity)

    return in_order(table.patterns.values(), module_of)


def recipes_of(table: Table) -> list[DeclaredOperation]:
    """The operations that recipes run on their own, in the order of their entities."""
    places = {entity.name: place for place, entity in enumerate(entities_of(table))}
    return sorted(table.recipes.values(), key=lambda each: places.get(each.name.partition(".")[0], len(places)))


def _module_of(entity: EntitySchema[Any]) -> str:
    return entity.cls.__module__
