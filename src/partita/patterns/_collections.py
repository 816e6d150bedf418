"""Declaration of collections: several entities of a partition, each with its keys, a range and a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, get_origin

from msgspec import Struct

from partita.errors import ModelError
from partita.expressions import KeyCondition
from partita.model import BoundKey, Budget, Entity, EntitySchema, Prefix, Span, Template, template_texts
from partita.operations import (
    Collect,
    CollectedPart,
    Interval,
    Slot,
    check_projected,
    foreign_intervals,
    slots_of,
)
from partita.patterns._key_conditions import Conditions, key_conditions
from partita.patterns._patterns import decorator, register
from partita.patterns._permissions import permissions
from partita.patterns._signature import KeyParameters, PatternSignature
from partita.store import QueryTable

P = ParamSpec("P")
C = TypeVar("C")

DEFAULT_LIMIT = 1_000


def collect(
    result: type[C],
    hash_key: str | Sequence[str],
    *,
    index: str | None = None,
    newest_first: bool = False,
    limits: Mapping[type[Entity], int] | None = None,
    limit: int = DEFAULT_LIMIT,
    budget: Budget | None = None,
) -> Callable[[Callable[P, None]], Callable[P, Collect[C]]]:
    """Declare a read of several entities of one partition into a dataclass with a field per entity.

    @collect(RepositoryPage, "REPO#{owner}#{name}", newest_first=True, limits={Issue: 20})
    def repository_page(owner: str, name: str) -> None: ...

    Parameters are the fields of the partition key, and then leading fields of the sort keys: each of these restricts
    the entities whose sort key contains it. The last one may be a `Span` or a `Prefix`.

    Args:
        result: a dataclass. The type of each field is an entity, an optional entity, or a tuple of entities.
        hash_key: the template of the partition key. Entities may use other names for its fields.
        index: the index to read; None for the table.
        newest_first: whether to read in descending order.
        limits: the maximum number of items to read per entity; `page()` continues from there.
        limit: the maximum total number of items of entities without a limit. More raise an error.
        budget: how much one run may consume.
    """
    slots = slots_of(result)
    table = slots[0].schema.table
    templates = [Template(text, format=table.key_format) for text in template_texts(hash_key)]
    partition = _Partition(result.__name__, hash_key, tuple(field for each in templates for field in each.fields))
    keys = [partition.key_of(slot.schema, templates, index) for slot in slots]
    for slot, key in zip(slots, keys, strict=True):
        check_projected(slot.schema, key, slot.schema.cls)
    counts = _limits(result.__name__, slots, limits or {})

    def declare(signature: PatternSignature) -> Callable[..., Collect[C]]:
        parameters = partition.parameters(signature, slots, keys)
        seen: dict[int, tuple[Interval, ...]] = {}

        def make(*args: Any, **kwargs: Any) -> Collect[C]:
            values = signature.arguments(args, kwargs)
            parts = tuple(
                CollectedPart(slot, key, condition, counts.get(slot.field))
                for slot, key, condition in zip(slots, keys, parameters.conditions(values), strict=True)
            )
            known = len(table.entities)  # further entities may be declared after this pattern
            if known not in seen:
                seen[known] = foreign_intervals(table, parts)
            return Collect(result, table, index, parts, limit, seen[known], not newest_first, pattern=declared)

        sends = permissions(keys[0], table, QueryTable)
        declared = register(
            signature, make, "collect", parameters.owner, keys[0], budget, sends=sends, keys=tuple(keys)
        )
        return make

    return decorator(declare)


class _CollectionParameters(Struct, frozen=True):
    """The parameters of a collection, and how each part uses them."""

    of_parts: tuple[KeyParameters, ...]
    renamed: tuple[Mapping[str, str], ...]
    """For each part, its own names for the parameters that it uses."""
    conditions_of: tuple[Conditions, ...]
    owner: EntitySchema[Any]

    def conditions(self, values: Mapping[str, Any]) -> list[KeyCondition]:
        """Return the key conditions of all parts."""
        found: list[KeyCondition] = []
        for parameters, renamed, conditions_of in zip(self.of_parts, self.renamed, self.conditions_of, strict=True):
            own = {name: values[given] for given, name in renamed.items()}
            parameters.check_members(own)
            found += conditions_of(own)
        return found


class _Partition(Struct, frozen=True):
    """The partition that a collection reads."""

    label: str
    text: str | Sequence[str]
    fields: tuple[str, ...]

    def key_of(self, schema: EntitySchema[Any], templates: Sequence[Template], index: str | None) -> BoundKey:
        """Return the key of an entity that has this partition, possibly with other names for its fields."""
        for key in schema.keys.values():
            if key.index == index and [t.shape for _, t in key.hash] == [each.shape for each in templates]:
                if key.shards is not None:
                    message = f"{self.label}: {schema.name}.{key.name} has shards; a collection reads one partition."
                    raise ModelError(message, owner=schema.cls, hint="Declare a @query, which reads all shards.")
                return key
        message = f"{self.label}: {schema.name} has no key with the partition {self.text!r}."
        raise ModelError(message, owner=schema.cls)

    def parameters(
        self, signature: PatternSignature, slots: Sequence[Slot], keys: Sequence[BoundKey]
    ) -> _CollectionParameters:
        """Check that the parameters fit every part."""
        label, given = signature.name, tuple(signature.hints)
        if any(name not in given or get_origin(signature.hints[name]) in (Span, Prefix) for name in self.fields):
            raise ModelError(f"{label}: its parameters must be the fields of {self.text!r}, each with a single value.")
        renamed = [self._renamed(key, given) for key in keys]
        if unused := [name for name in given if not any(name in each for each in renamed)]:
            message = f"{label}: {', '.join(unused)} cannot restrict a sort key of {self.label}."
            raise ModelError(message, hint=f"The sort keys are: {', '.join(key.range_text or '' for key in keys)}.")
        parameters = tuple(
            KeyParameters(signature.renamed(names), slot.schema, key)
            for slot, key, names in zip(slots, keys, renamed, strict=True)
        )
        conditions = tuple(
            key_conditions(label, key, {name: own.range_kind(name) for name in own.names})
            for key, own in zip(keys, parameters, strict=True)
        )
        owners = [slot.schema for slot, key in zip(slots, keys, strict=True) if key.hash_fields == self.fields]
        return _CollectionParameters(parameters, tuple(renamed), conditions, (owners or [slots[0].schema])[0])

    def _renamed(self, key: BoundKey, given: Sequence[str]) -> dict[str, str]:
        names = dict(zip(self.fields, (field for _, template in key.hash for field in template.fields), strict=True))
        known = {*key.fields, *key.inputs} - set(names.values())
        return names | {name: name for name in given if name not in names and name in known}


def _limits(label: str, slots: Sequence[Slot], limits: Mapping[type[Entity], int]) -> dict[str, int]:
    """Return the limits by slot, for the slots that have one."""
    many = {slot.schema.cls: slot.field for slot in slots if slot.many}
    for entity, count in limits.items():
        if entity not in many:
            message = f"{label}: {getattr(entity, '__name__', entity)} has a limit, but no field is a tuple of it."
            raise ModelError(message, owner=label)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ModelError(
                f"{label}: the limit of {entity.__name__} must be a positive integer, not {count!r}.", owner=label
            )
    return {many[entity]: count for entity, count in limits.items()}
