"""Searches of vector indexes as access patterns: the items most similar to a vector, within a partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, ParamSpec, TypeVar, overload

from pydantic import BaseModel

from partita.errors import ModelError, OperationError
from partita.expressions import Projection
from partita.model import BoundKey, Budget, Entity, EntitySchema, Key, VectorIndex, kinds_of, schema_of, vector_of
from partita.operations import MAX_TOP, Search, projection_of
from partita.patterns._patterns import decorator, register
from partita.patterns._permissions import ACTIONS, Permission
from partita.patterns._signature import KeyParameters, PatternSignature
from partita.store import SearchVectors, VectorIndexSchema

P = ParamSpec("P")
E = TypeVar("E", bound=Entity)
M = TypeVar("M", bound=BaseModel)

VECTOR: Final = "vector"
TOP: Final = "top"


@overload
def search(
    entity: type[E], index: Key | VectorIndex, *, budget: Budget | None = None
) -> Callable[[Callable[P, None]], Callable[P, Search[E]]]: ...
@overload
def search(
    entity: type[Entity], index: Key | VectorIndex, *, view: type[M], budget: Budget | None = None
) -> Callable[[Callable[P, None]], Callable[P, Search[M]]]: ...
def search(
    entity: type[Entity],
    index: Key | VectorIndex,
    *,
    view: type[BaseModel] | None = None,
    budget: Budget | None = None,
) -> Callable[..., Any]:
    """Declare a search of a vector index, with the fields of its partition key, a vector, and the number of matches.

    @search(Note, Note.by_meaning, budget=SearchedKb(64))
    def similar_notes(user_id: str, vector: Vector, top: int) -> None: ...

    Filter fields of the index can be parameters too. For an index without a partition key, pass the index itself
    instead of a key. With a `view`, only the view's fields are read: the vector only if it is one of them.
    """
    schema = schema_of(entity)
    place = _SearchPlace(schema, index)
    projection = place.projection(view)
    return decorator(lambda signature: _search_pattern(signature, place, budget, view, projection))


class _SearchPlace:
    """The vector index of a search, with its partition key if it has one."""

    def __init__(self, schema: EntitySchema[Any], index: Key | VectorIndex) -> None:
        self.schema = schema
        self.key: BoundKey | None = schema.bound(index) if isinstance(index, Key) else None
        name = index.index if isinstance(index, Key) else index.name
        found = schema.table.schema.vector(name or "")
        if found is None:
            hint = f"It has: {', '.join(each.name for each in schema.table.schema.vectors) or 'none'}."
            raise ModelError(f"{schema.table!r} has no vector index {name!r}.", owner=schema.cls, hint=hint)
        if found.hash is not None and self.key is None:
            message = f"The vector index {found.name!r} has a partition key, so a search needs a key of {schema.name}."
            raise ModelError(message, owner=schema.cls, hint=f'Declare Key("…", index={found.name!r}).')
        if found.attribute not in schema.attributes.values():
            message = f"{schema.name} has no field that is stored as {found.attribute!r}."
            raise ModelError(message, owner=schema.cls, hint=f"The index {found.name!r} needs it: add a Vector field.")
        self.index: VectorIndexSchema = found

    def projection(self, view: type[BaseModel] | None) -> Projection:
        """Return the projection of a match: all fields of the entity with its vector, or those of a view.

        Raises:
            ModelError: the index does not hold some of the fields.
        """
        projection = projection_of(self.schema, self.key or self.schema.primary, view or self.schema.cls)
        if self.index.projection == "ALL":
            return projection
        held = {part.name for part in (*self.schema.table.schema.key, *self.index.search)} | {self.index.attribute}
        held |= set() if self.index.projection == "KEYS_ONLY" else set(self.index.projection)
        if missing := [str(path.parts[0]) for path in projection if path.parts[0] not in held]:
            what = (view or self.schema.cls).__name__
            message = f"The index {self.index.name!r} does not project {', '.join(missing)}, which {what} needs."
            hint = "Project them, or declare a view that has only projected fields."
            raise ModelError(message, owner=self.schema.cls, hint=hint)
        return projection

    def filters(self) -> dict[str, str]:
        """Return the fields by which a search can filter, with their attributes."""
        names = {attribute.name for attribute in self.index.filters}
        return {field: attribute for field, attribute in self.schema.attributes.items() if attribute in names}

    def permission(self) -> Permission:
        """Return the permission that a role needs for the search."""
        partition = "" if self.key is None else self.key.hash_text
        return Permission(ACTIONS[SearchVectors], self.schema.table, self.index.name, partition)


def _search_pattern(
    signature: PatternSignature,
    place: _SearchPlace,
    budget: Budget | None,
    view: type[BaseModel] | None,
    projection: Projection,
) -> Callable[..., Search[Any]]:
    schema, key, index = place.schema, place.key, place.index
    filters = _checked(signature, place)
    render = _partition_renderer(signature, place)

    def make(*args: Any, **kwargs: Any) -> Search[Any]:
        given = signature.arguments(args, kwargs)
        equal = (*render(given), *((name, encode(given[field])) for field, name, encode in filters))
        made: Search[Any] = Search(
            schema,
            index.name,
            _numbers(signature.name, index, given[VECTOR]),
            MAX_TOP,
            view or schema.cls,
            projection,
            equal,
            key,
            pattern=declared,
        )
        return made.top(given[TOP])

    sends = (place.permission(),)
    declared = register(signature, make, "search", schema, key, budget, sends=sends, view=view, searched=index.name)
    return make


def _checked(signature: PatternSignature, place: _SearchPlace) -> list[tuple[str, str, Callable[[Any], Any]]]:
    """Return the filters among the parameters: field, attribute, and the function that converts its value.

    Raises:
        ModelError: a parameter is missing, or is neither a field of the partition key nor a filter.
    """
    label, hints = signature.name, signature.hints
    for name in (VECTOR, TOP):
        if name not in hints:
            hint = f"Write def {label}(…, vector: Vector, top: int)."
            raise ModelError(f"{label} has no parameter {name!r}.", owner=label, hint=hint)
    partition = () if place.key is None else place.key.inputs
    if missing := [field for field in partition if field not in hints]:
        message = f"{label} does not cover the partition of {place.index.name!r}: {', '.join(missing)}."
        raise ModelError(message, owner=label, hint="Add these parameters.")
    filters = place.filters()
    for name in hints:
        if name not in (VECTOR, TOP, *partition, *filters):
            known = ", ".join((*partition, *filters, VECTOR, TOP))
            message = f"{label}: {name!r} is neither in the partition of {place.index.name!r} nor a filter of it."
            raise ModelError(message, owner=label, hint=f"Its parameters can be: {known}.")
    chosen = [field for field in hints if field in filters and field not in partition]
    for field in chosen:
        _check_type(label, field, hints[field], place.schema.annotations[field])
    return [(field, filters[field], place.schema.codec.encoder(filters[field])) for field in chosen]


def _check_type(label: str, field: str, asked: Any, declared: Any) -> None:
    if kinds_of(asked) != kinds_of(declared):
        raise ModelError(f"{label}: {field!r} is declared as {asked}, but the field is {declared}.", owner=label)


def _partition_renderer(
    signature: PatternSignature, place: _SearchPlace
) -> Callable[[Mapping[str, Any]], tuple[tuple[str, Any], ...]]:
    key = place.key
    if key is None:
        return lambda _: ()
    own = PatternSignature(
        signature.name, signature.doc, signature.signature, {name: signature.hints[name] for name in key.inputs}
    )
    parameters = KeyParameters(own, place.schema, key)
    parameters.refuse_ranges()
    render, inputs = parameters.key_renderer(), key.inputs

    def partition(given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        parameters.check_members(given)
        return tuple(render(tuple(given[field] for field in inputs)).items())

    return partition


def _numbers(label: str, index: VectorIndexSchema, vector: Any) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, vector_of(vector)))
    except (TypeError, ValueError) as error:
        raise OperationError(f"{label}: the argument is not a vector ({error}).") from None
    if len(numbers) != index.dimensions:
        raise OperationError(f"{label}: the vector must have {index.dimensions} dimensions, not {len(numbers)}.")
    return numbers
