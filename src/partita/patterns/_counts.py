"""Counts as access patterns: the number of items in a range of the table or of any index, even a keys-only one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

from partita.model import BoundKey, Budget, Entity, EntitySchema, Key, schema_of
from partita.operations import Count, Query, check_projected
from partita.patterns._key_conditions import key_conditions
from partita.patterns._patterns import decorator, register
from partita.patterns._permissions import permissions
from partita.patterns._signature import KeyParameters, PatternSignature
from partita.store import QueryTable

P = ParamSpec("P")


def count(
    entity: type[Entity], key: Key, *, budget: Budget | None = None, max_pages: int = 10
) -> Callable[[Callable[P, None]], Callable[P, Count]]:
    """Declare a count of a range: all fields of the partition key, then leading fields of the sort key.

    @count(Task, Task.by_status, budget=Rcu(2))
    def count_tasks(user_id: str, status: Status) -> None: ...

    It reads at most `max_pages` pages of 1 MB or 10,000 items. The index needs to hold only its keys.
    """
    schema = schema_of(entity)
    bound = schema.bound(key)
    check_projected(schema, bound, entity, schema.key_projection(bound))
    return decorator(lambda signature: _count_pattern(signature, schema, bound, budget, max_pages))


def _count_pattern(
    signature: PatternSignature, schema: EntitySchema[Any], key: BoundKey, budget: Budget | None, max_pages: int
) -> Callable[..., Count]:
    parameters = KeyParameters(signature, schema, key)
    conditions_of = key_conditions(signature.name, key, {n: parameters.range_kind(n) for n in parameters.names})

    def make(*args: Any, **kwargs: Any) -> Count:
        condition, *others = conditions_of(parameters.bind(args, kwargs))
        query: Query[Any] = Query(schema, key, condition, schema.cls, other_shards=tuple(others), pattern=declared)
        return query.count(max_pages=max_pages)

    sends = permissions(key, schema.table, QueryTable)
    declared = register(signature, make, "query", schema, key, budget, sends=sends)
    return make
