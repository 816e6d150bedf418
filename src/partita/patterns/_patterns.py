"""Access patterns: named, typed, documented functions that make operations, proved against the keys they use.

The function's own signature is the type, its docstring the documentation, its body empty; what it does is derived.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, get_args, get_origin, get_type_hints, overload

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from partita.errors import ModelError
from partita.expressions import KeyCondition, Path, Projection
from partita.model import BoundKey, Budget, Entity, EntitySchema, Key, Prefix, Span, Table, kinds_of, schema_of
from partita.operations import Collect, Get, Operation, Query, slots_of
from partita.patterns._key_conditions import RangeKind, key_condition
from partita.patterns._permissions import Access, Via, Writes, access, sends_of
from partita.store import GetItem, QueryTable
from partita.values import Item

P = ParamSpec("P")
E = TypeVar("E", bound=Entity)
M = TypeVar("M", bound=BaseModel)
C = TypeVar("C")
O = TypeVar("O", bound=Operation[Any])  # noqa: E741 - O for operation

PatternKind: TypeAlias = Literal["get", "query", "collect", "write"]


class Pattern(Struct, frozen=True):
    """What is known of an access pattern besides the operation it makes."""

    name: str
    kind: PatternKind
    table: Table
    entity: EntitySchema[Any] | None
    key: BoundKey | None
    budget: Budget | None
    doc: str
    signature: inspect.Signature
    view: type[BaseModel] | None = None
    function: Callable[..., Operation[Any]] | None = None
    sends: tuple[Access, ...] | None = None
    """The requests that a role must be allowed to run it; None where nothing tells."""

    @property
    def index(self) -> str | None:
        """The index that serves the pattern; None for the table itself."""
        return self.key.index if self.key else None


class _Parameters:
    """A pattern function's parameters, proved to cover the fields of a key."""

    def __init__(self, function: Callable[..., None], schema: EntitySchema[Any], key: BoundKey) -> None:
        self.label = function.__name__
        self.signature = inspect.signature(function)
        self.names = tuple(self.signature.parameters)
        hints = get_type_hints(function)
        self.hints = {name: hints.get(name) for name in self.names}
        self.key = key
        self.in_order = self.names == key.fields
        for name in self.names:
            self._check(name, schema, key)

    def _check(self, name: str, schema: EntitySchema[Any], key: BoundKey) -> None:
        if name not in key.fields:
            message = f"{self.label}: {name!r} is no field of {schema.name}.{key.name}."
            raise ModelError(message, owner=self.label, hint=f"Its fields are: {', '.join(key.fields)}.")
        hint = self.hints[name]
        declared = schema.cls.model_fields[name].annotation
        asked = get_args(hint)[0] if get_origin(hint) in (Span, Prefix) else hint
        if get_origin(hint) is Prefix and not all(issubclass(kind, str) for kind in kinds_of(declared)):
            raise ModelError(f"{self.label}: {name!r} is no text, so it has no Prefix.", owner=self.label)
        if kinds_of(asked) != kinds_of(declared):
            message = f"{self.label}: {name!r} is declared as {asked}, but the field is {declared}."
            raise ModelError(message, owner=self.label)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments by name."""
        if not kwargs and len(args) == len(self.names):
            return dict(zip(self.names, args))  # noqa: B905 - the lengths were just compared
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def ordered(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the key's fields."""
        if self.in_order and not kwargs and len(args) == len(self.names):
            return args
        bound = self.bind(args, kwargs)
        return tuple(bound[field] for field in self.key.fields)

    def key_renderer(self, key: BoundKey) -> Callable[[tuple[Any, ...]], Item]:
        """A function that makes the key attributes from values in the order of the key's fields."""
        attributes = [
            (attribute.name, template.renderer([key.fields.index(field) for field in template.fields]))
            for attribute, template in key.attributes
        ]
        return lambda values: {name: render(values) for name, render in attributes}

    def refuse_ranges(self) -> None:
        """Prove that every parameter is one value."""
        for name in self.names:
            if self.range_kind(name) != "equal":
                raise ModelError(f"{self.label}: {name!r} must be one value, not a range.", hint="Declare a @query.")

    def range_kind(self, name: str) -> RangeKind:
        """How a parameter restricts its field: by equality, a span or a prefix."""
        origin = get_origin(self.hints[name])
        return "span" if origin is Span else "prefix" if origin is Prefix else "equal"


def get(entity: type[E], *, budget: Budget | None = None) -> Callable[[Callable[P, None]], Callable[P, Get[E]]]:
    """Declare a read of one item; the parameters are the fields of the entity's primary key."""
    schema = schema_of(entity)
    key = schema.primary

    def declare(function: Callable[P, None]) -> Callable[P, Get[E]]:
        parameters = _Parameters(function, schema, key)
        parameters.refuse_ranges()
        if missing := [field for field in key.fields if field not in parameters.names]:
            message = f"{function.__name__} does not cover the primary key of {schema.name}: {', '.join(missing)}."
            raise ModelError(message, hint="Add these parameters, or declare a @query.")

        render = parameters.key_renderer(key)

        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> Get[E]:
            values = parameters.ordered(args, kwargs)
            return Get(schema, render(values), values, pattern=declared)

        sends = access(key, schema.table, GetItem)
        declared = _register(function, make, "get", schema, key, budget, sends=sends)
        return make

    return declare


@overload
def query(
    entity: type[E], key: Key, *, budget: Budget | None = None, newest_first: bool = False
) -> Callable[[Callable[P, None]], Callable[P, Query[E]]]: ...
@overload
def query(
    entity: type[Entity], key: Key, *, view: type[M], budget: Budget | None = None, newest_first: bool = False
) -> Callable[[Callable[P, None]], Callable[P, Query[M]]]: ...
def query(
    entity: type[Entity],
    key: Key,
    *,
    view: type[BaseModel] | None = None,
    budget: Budget | None = None,
    newest_first: bool = False,
) -> Callable[[Callable[P, None]], Callable[P, Query[Any]]]:
    """Declare a read of a range: all fields of the partition key, then leading fields of the sort key.

    The last parameter may be a `Span` or a `Prefix` of its field. With a `view`, only its fields are read.
    """
    schema = schema_of(entity)
    bound = schema.bound(key)
    projection = None if view is None else _projection(schema, bound, view)
    _check_projected(schema, bound, view or entity, projection)

    def declare(function: Callable[P, None]) -> Callable[P, Query[Any]]:
        parameters = _Parameters(function, schema, bound)
        build = key_condition(function.__name__, bound, {n: parameters.range_kind(n) for n in parameters.names})

        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> Query[Any]:
            condition = build(parameters.bind(args, kwargs))
            return Query(
                schema,
                bound,
                condition,
                view or entity,
                projection,
                forward=not newest_first,
                pattern=declared,
            )

        sends = access(bound, schema.table, QueryTable)
        declared = _register(function, make, "query", schema, bound, budget, view=view, sends=sends)
        return make

    return declare


def collect(
    result: type[C],
    hash_key: str,
    *,
    index: str | None = None,
    limit: int = 1_000,
    budget: Budget | None = None,
) -> Callable[[Callable[P, None]], Callable[P, Collect[C]]]:
    """Declare a read of a whole partition into a dataclass with a field per entity.

    `hash_key` is the partition's template; every entity of the result must have a key with that template.
    """
    slots = slots_of(result)
    keys = [_key_with(slot.schema, hash_key, index, result.__name__) for slot in slots]
    schema = slots[0].schema
    for slot in slots:
        _check_projected(slot.schema, _key_with(slot.schema, hash_key, index, result.__name__), slot.schema.cls)

    def declare(function: Callable[P, None]) -> Callable[P, Collect[C]]:
        parameters = _Parameters(function, schema, keys[0])
        parameters.refuse_ranges()
        if set(parameters.names) != set(keys[0].hash.fields):
            raise ModelError(f"{function.__name__}: its parameters must be the fields of {hash_key!r}.")
        name = keys[0].hash_attribute.name

        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> Collect[C]:
            values = parameters.bind(args, kwargs)
            condition = KeyCondition(((name, keys[0].hash.render([values[n] for n in keys[0].hash.fields])),))
            return Collect(result, slots, schema.table, condition, index, limit, pattern=declared)

        sends = access(keys[0], schema.table, QueryTable)
        declared = _register(function, make, "collect", schema, keys[0], budget, sends=sends)
        return make

    return declare


def pattern(
    *, budget: Budget | None = None, via: Via | None = None, writes: Writes | None = None
) -> Callable[[Callable[P, O]], Callable[P, O]]:
    """Name an operation that a function builds, such as a write or a transaction, and give it a budget.

    @pattern(budget=Wcu(5))
    def create_task(task: Task) -> Put[Task]:
        return insert(task)

    Which requests it sends follows from what the function says it returns. Where that does not tell, as with a
    transaction or a query, name the declared patterns that it is made of (`via`), or what it sends for each entity:

    @pattern(budget=Wcu(4), writes={User: (PutItem,), Claimed: (PutItem, DeleteItem)})
    def save_user(plan: Plan[User]) -> Transaction: ...
    """

    def declare(function: Callable[P, O]) -> Callable[P, O]:
        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> O:
            return replace(function(*args, **kwargs), pattern=declared)

        schema = _entity_in(function)
        sends = sends_of(function, schema, via, writes)
        declared = _register(function, make, _kind_of(function, budget), schema, None, budget, sends=sends)
        return make

    return declare


def _register(
    function: Callable[..., Any],
    make: Callable[..., Operation[Any]],
    kind: PatternKind,
    schema: EntitySchema[Any],
    key: BoundKey | None,
    budget: Budget | None,
    *,
    sends: tuple[Access, ...] | None,
    view: type[BaseModel] | None = None,
) -> Pattern:
    declared = Pattern(
        name=function.__name__,
        kind=kind,
        table=schema.table,
        entity=schema,
        key=key,
        budget=budget,
        doc=inspect.getdoc(function) or "",
        signature=inspect.signature(function),
        view=view,
        function=make,
        sends=sends,
    )
    schema.table.add_pattern(declared)
    make.pattern = declared  # type: ignore[attr-defined]
    return declared


def _projection(schema: EntitySchema[Any], key: BoundKey, view: type[BaseModel]) -> Projection:
    names = [field.alias or name for name, field in view.model_fields.items()]
    for name in names:
        if name not in schema.attributes.values():
            raise ModelError(f"The view {view.__name__} has {name!r}, which {schema.name} has not.", owner=view)
    paths: Sequence[Path] = (*(Path((name,)) for name in names), *schema.key_projection(key))
    return tuple(dict.fromkeys(paths))


def _key_with(schema: EntitySchema[Any], hash_key: str, index: str | None, label: str) -> BoundKey:
    for key in schema.keys.values():
        if key.index == index and key.hash.text == hash_key:
            return key
    raise ModelError(f"{label}: {schema.name} has no key with the partition {hash_key!r}.", owner=schema.cls)


def _check_projected(
    schema: EntitySchema[Any], key: BoundKey, model: type[BaseModel], sent: Projection | None = None
) -> None:
    """Refuse a read of what the index does not hold: an entity would have defaults for it, and lose it when written."""
    index = schema.table.schema.index(key.index) if key.index else None
    if index is None or index.projection == "ALL":
        return
    if index.local and sent is not None:  # what is asked for by name, a local index fetches from its table
        return
    held = {attribute.name for attribute in (*schema.table.schema.key, *index.key)}
    held |= set() if index.projection == "KEYS_ONLY" else set(index.projection)
    needed = schema.attributes.values() if sent is None else [str(path.parts[0]) for path in sent]
    if missing := [name for name in needed if name not in held]:
        message = f"The index {index.name!r} does not project {', '.join(missing)}, which {model.__name__} needs."
        raise ModelError(message, owner=schema.cls, hint="Project them, or declare a view with what is projected.")


def _kind_of(function: Callable[..., Any], budget: Budget | None) -> PatternKind:
    result = get_type_hints(function).get("return")
    kinds: dict[Any, PatternKind] = {Get: "get", Query: "query", Collect: "collect"}
    only_reads = budget is not None and not budget.write
    return kinds.get(get_origin(result) or result, "get" if only_reads else "write")


def _entity_in(function: Callable[..., Any]) -> EntitySchema[Any]:
    for hint in get_type_hints(function).values():
        for kind in _kinds_in(hint):
            if isinstance(kind, type) and issubclass(kind, Entity):
                return schema_of(kind)
    raise ModelError(
        f"{function.__name__}: no entity is named in its parameters or result.",
        hint="Annotate it, as in def create_task(task: Task) -> Put[Task].",
    )


def _kinds_in(hint: Any) -> Iterator[Any]:
    """A type and all that it is made of, as in `Sequence[Delete[Task]]`."""
    yield hint
    for part in get_args(hint):
        yield from _kinds_in(part)
