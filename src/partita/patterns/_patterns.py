"""Access patterns: named, typed, documented functions that build operations, checked against the keys they use.

The function's signature is the type, its docstring the documentation, its body empty; its behaviour is derived. A
recipe, which receives its entity as an argument, passes the names of its patterns as arguments instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper, wraps
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, get_args, get_origin, get_type_hints, overload

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from partita.errors import ModelError, OperationError
from partita.expressions import Projection
from partita.model import BoundKey, Budget, Entity, EntitySchema, Key, Table, schema_of
from partita.operations import Get, Operation, Query, check_projected, projection_of
from partita.patterns._key_conditions import key_conditions
from partita.patterns._permissions import Permission, Via, Writes, hints_of, permissions, sends_of
from partita.patterns._signature import KeyParameters, PatternSignature, check_empty, check_makes_one
from partita.store import GetItem, QueryTable

P = ParamSpec("P")
E = TypeVar("E", bound=Entity)
M = TypeVar("M", bound=BaseModel)
O = TypeVar("O", bound=Operation[Any])  # noqa: E741 - O for operation

PatternKind: TypeAlias = Literal["get", "query", "collect", "search", "write"]


class Pattern(Struct, frozen=True):
    """The properties of an access pattern, besides the operation that it builds."""

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
    sends: tuple[Permission, ...] | None = None
    """The requests that a role must be allowed to send to run it; None if these are not known."""
    keys: tuple[BoundKey, ...] = ()
    """The key of each entity of a collection."""
    searched: str | None = None
    """The vector index of a search."""

    @property
    def index(self) -> str | None:
        """The index that serves the pattern; None for the table itself."""
        return self.searched or (self.key.index if self.key else None)

    @property
    def hints(self) -> dict[str, Any]:
        """The types of its parameters."""
        hints = get_type_hints(inspect.unwrap(self.function)) if self.function else {}
        return {name: hints.get(name) for name in self.signature.parameters}


@overload
def get(entity: type[E], *, budget: Budget | None = None) -> Callable[[Callable[P, None]], Callable[P, Get[E]]]: ...
@overload
def get(
    entity: type[Entity], *, view: type[M], budget: Budget | None = None
) -> Callable[[Callable[P, None]], Callable[P, Get[M]]]: ...
@overload
def get(
    entity: type[E], *, name: str, doc: str, parameters: Sequence[str] = (), budget: Budget | None = None
) -> Callable[..., Get[E]]: ...
def get(
    entity: type[Entity],
    *,
    name: str | None = None,
    doc: str = "",
    parameters: Sequence[str] = (),
    view: type[BaseModel] | None = None,
    budget: Budget | None = None,
) -> Callable[..., Any]:
    """Declare a read of one item; the parameters are the fields of the entity's primary key.

    With a `view`, only the view's fields are read.

    @get(Task, budget=Rcu(0.5))
    def task_by_id(user_id: str, task_id: str) -> None: ...

    A recipe, which does not know the entity in advance, passes name and documentation as arguments:

    by_name = get(record, name="worker_lease_by_name", doc="Who holds a lease.", parameters=["name"])
    """
    schema = schema_of(entity)

    def declare(signature: PatternSignature) -> Callable[..., Get[Any]]:
        return _get_pattern(signature, schema, budget, view)

    if name is None:
        return decorator(declare)
    return _undecorated(declare, PatternSignature.of_fields(name, doc, schema, parameters or schema.primary.inputs))


@overload
def query(
    entity: type[E], key: Key, *, budget: Budget | None = None, newest_first: bool = False
) -> Callable[[Callable[P, None]], Callable[P, Query[E]]]: ...
@overload
def query(
    entity: type[Entity], key: Key, *, view: type[M], budget: Budget | None = None, newest_first: bool = False
) -> Callable[[Callable[P, None]], Callable[P, Query[M]]]: ...
@overload
def query(
    entity: type[E],
    key: Key,
    *,
    name: str,
    doc: str,
    parameters: Sequence[str] = (),
    budget: Budget | None = None,
    newest_first: bool = False,
) -> Callable[..., Query[E]]: ...
def query(
    entity: type[Entity],
    key: Key,
    *,
    name: str | None = None,
    doc: str = "",
    parameters: Sequence[str] = (),
    view: type[BaseModel] | None = None,
    budget: Budget | None = None,
    newest_first: bool = False,
) -> Callable[..., Any]:
    """Declare a read of a range: all fields of the partition key, then leading fields of the sort key.

    The last parameter may be a `Span` or a `Prefix` of its field. With a `view`, only the view's fields are read. A
    recipe passes name and documentation as arguments, as with `get`; without `parameters`, it reads a whole partition.
    """
    schema = schema_of(entity)
    bound = schema.bound(key)
    projection = None if view is None else projection_of(schema, bound, view)
    check_projected(schema, bound, view or entity, projection)

    def declare(signature: PatternSignature) -> Callable[..., Query[Any]]:
        return _query_pattern(signature, schema, bound, budget, view, projection, forward=not newest_first)

    if name is None:
        return decorator(declare)
    return _undecorated(declare, PatternSignature.of_fields(name, doc, schema, parameters or _partition_fields(bound)))


def pattern(
    *, budget: Budget | None = None, via: Via | None = None, writes: Writes | None = None
) -> Callable[[Callable[P, O]], Callable[P, O]]:
    """Name an operation that a function builds, such as a write or a transaction, and give it a budget.

    @pattern(budget=Wcu(5))
    def create_task(task: Task) -> Put[Task]:
        return insert(task)

    The requests that it sends are derived from the function's return annotation. If this is not enough, as with a
    transaction or a query, pass the declared patterns that it uses (`via`), or what it sends for each entity:

    @pattern(budget=Wcu(4), writes={User: (PutItem,), UniqueClaim: (PutItem, DeleteItem)})
    def save_user(plan: Plan[User]) -> Transaction: ...
    """

    def declare(function: Callable[P, O]) -> Callable[P, O]:
        @wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> O:
            made = function(*args, **kwargs)
            if not isinstance(made, Operation):
                hint = "Return one operation, such as put(task), or transact(…) for several."
                raise OperationError(f"{function.__name__} returned {made!r:.60}, not an operation.", hint=hint)
            return replace(made, pattern=declared)

        check_makes_one(function)
        schema = _entity_of(function, via, writes)
        sends = sends_of(function, schema, via, writes)
        signature = PatternSignature.of_function(function)
        declared = register(signature, make, _kind_of(function, budget), schema, None, budget, sends=sends)
        return make

    return declare


def decorator(declare: Callable[[PatternSignature], Callable[..., O]]) -> Callable[[Callable[..., None]], Any]:
    """Return the decorator that declares a pattern from a function without a body."""

    def decorate(function: Callable[..., None]) -> Callable[..., O]:
        check_empty(function)
        return update_wrapper(declare(PatternSignature.of_function(function)), function)

    return decorate


def _undecorated(
    declare: Callable[[PatternSignature], Callable[..., O]], signature: PatternSignature
) -> Callable[..., O]:
    make = declare(signature)
    signature.sign(make)
    return make


def _get_pattern(
    signature: PatternSignature, schema: EntitySchema[Any], budget: Budget | None, view: type[BaseModel] | None
) -> Callable[..., Get[Any]]:
    key = schema.primary
    projection = None if view is None else projection_of(schema, key, view)
    parameters = KeyParameters(signature, schema, key)
    parameters.refuse_ranges()
    if missing := [field for field in key.inputs if field not in parameters.names]:
        message = f"{signature.name} does not cover the primary key of {schema.name}: {', '.join(missing)}."
        raise ModelError(message, hint="Add these parameters, or declare a @query.")
    if derived := [name for name in parameters.names if name not in key.inputs]:
        raise ModelError(f"{signature.name}: {', '.join(derived)} is computed from the other parameters.")
    render, in_order = parameters.key_renderer(), parameters.in_order

    def make(*args: Any, **kwargs: Any) -> Get[Any]:
        values = args if len(args) == in_order and not kwargs else parameters.ordered(args, kwargs)
        return Get(schema, render(values), values, view=view, projection=projection, pattern=declared)

    sends = permissions(key, schema.table, GetItem)
    declared = register(signature, make, "get", schema, key, budget, sends=sends, view=view)
    return make


def _query_pattern(
    signature: PatternSignature,
    schema: EntitySchema[Any],
    key: BoundKey,
    budget: Budget | None,
    view: type[BaseModel] | None,
    projection: Projection | None,
    *,
    forward: bool,
) -> Callable[..., Query[Any]]:
    parameters = KeyParameters(signature, schema, key)
    conditions_of = key_conditions(signature.name, key, {n: parameters.range_kind(n) for n in parameters.names})

    def make(*args: Any, **kwargs: Any) -> Query[Any]:
        condition, *others = conditions_of(parameters.bind(args, kwargs))
        made = Query(schema, key, condition, view or schema.cls, projection, forward=forward, pattern=declared)
        return replace(made, other_shards=tuple(others)) if others else made

    sends = permissions(key, schema.table, QueryTable)
    declared = register(signature, make, "query", schema, key, budget, view=view, sends=sends)
    return make


def register(  # noqa: PLR0913 - one argument for each property of a pattern
    signature: PatternSignature,
    make: Callable[..., Operation[Any]],
    kind: PatternKind,
    schema: EntitySchema[Any],
    key: BoundKey | None,
    budget: Budget | None,
    *,
    sends: tuple[Permission, ...] | None,
    view: type[BaseModel] | None = None,
    keys: tuple[BoundKey, ...] = (),
    searched: str | None = None,
) -> Pattern:
    """Register a pattern with its table.

    Raises:
        ModelError: its budget does not fit, or the table has a pattern with that name.
    """
    if budget is not None:
        _check_budget(signature.name, kind, budget)
    declared = Pattern(
        name=signature.name,
        kind=kind,
        table=schema.table,
        entity=schema,
        key=key,
        budget=budget,
        doc=signature.doc,
        signature=signature.signature,
        view=view,
        function=make,
        sends=sends,
        keys=keys,
        searched=searched,
    )
    schema.table.add_pattern(declared)
    make.pattern = declared  # type: ignore[attr-defined]
    return declared


def _check_budget(name: str, kind: PatternKind, budget: Budget) -> None:
    if not isinstance(budget, Budget):
        hint = f"Write Rcu({budget!r}) or Wcu({budget!r})."
        raise ModelError(f"{name}: budget={budget!r} has no unit.", owner=name, hint=hint)
    units = (budget.read, budget.write, budget.searched)
    if not all(type(each) in (int, float) and each >= 0 for each in units):  # NaN is not, either
        message = f"{name}: the units of a budget are numbers that are not negative: {budget!r}."
        raise ModelError(message, owner=name, hint="Write Rcu(5), Wcu(2), or Rcu(5) + Wcu(2).")
    if kind in ("get", "query", "collect") and budget.write and not budget.read:
        message = f"{name}: a read consumes read units, and its budget is {budget}."
        raise ModelError(message, owner=name, hint=f"Write Rcu({budget.write:g}).")


def _partition_fields(key: BoundKey) -> tuple[str, ...]:
    return tuple(field for field in key.hash_fields if key.shards is None or field != key.shards.name)


def _kind_of(function: Callable[..., Any], budget: Budget | None) -> PatternKind:
    result = hints_of(function).get("return")
    kind = get_origin(result) or result
    listed_as = kind.listed_as if isinstance(kind, type) and issubclass(kind, Operation) else None
    only_reads = budget is not None and not budget.write
    return listed_as or ("get" if only_reads else "write")


def _entity_of(function: Callable[..., Any], via: Via | None, writes: Writes | None) -> EntitySchema[Any]:
    """Return the entity under which a pattern is listed: the first one that it names."""
    for entity in writes or {}:
        return schema_of(entity)
    for part in (via,) if callable(via) else via or ():
        declared: Pattern | None = getattr(part, "pattern", None)
        if declared is not None and declared.entity is not None:
            return declared.entity
    return _entity_in(function)


def _entity_in(function: Callable[..., Any]) -> EntitySchema[Any]:
    for hint in hints_of(function).values():
        for kind in _kinds_in(hint):
            if isinstance(kind, type) and issubclass(kind, Entity):
                return schema_of(kind)
    raise ModelError(
        f"{function.__name__}: no entity is named in its parameters or result.",
        hint="Annotate it, as in def create_task(task: Task) -> Put[Task].",
    )


def _kinds_in(hint: Any) -> Iterator[Any]:
    """Yield a type and all types inside it, as in `Sequence[Delete[Task]]`."""
    yield hint
    for part in get_args(hint):
        yield from _kinds_in(part)
