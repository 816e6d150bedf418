"""The base of all writes of one item: a condition, and the explanation of its failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeAlias, TypeVar

from msgspec.structs import replace

from partita.errors import ConditionFailed, OperationError
from partita.expressions import Condition, both
from partita.model import Entity, EntitySchema, schema_of
from partita.operations._operation import Context, Operation, Requests
from partita.store import DeleteItem, PutItem, UpdateItem, WriteResponse

E = TypeVar("E", bound=Entity)
R_co = TypeVar("R_co", covariant=True)

ExplainFailure: TypeAlias = Callable[[ConditionFailed], ConditionFailed]
"""Translates a failed condition into a recipe's terms; returns the same error if it has no better explanation."""


class Write(Operation[R_co], Generic[R_co], frozen=True, kw_only=True):
    """The common base of all writes of one item: a condition, and the explanation of its failure."""

    schema: EntitySchema[Any]
    condition: Condition | None = None
    failure: ExplainFailure | None = None

    def when(self, condition: Condition) -> Self:
        """The same write, but only if the stored item also satisfies the condition."""
        self.schema.check_condition(condition)
        return replace(self, condition=both(self.condition, condition))

    def failing_as(self, failure: ExplainFailure) -> Self:
        """The same write; `failure` translates its failed condition into another error."""
        return replace(self, failure=failure)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this write."""
        explained = self._explain(error, context)
        return explained if self.failure is None else self.failure(explained)

    def _explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        raise NotImplementedError

    def _send(self, request: PutItem | UpdateItem | DeleteItem, context: Context) -> Requests[WriteResponse]:
        try:
            response: WriteResponse = yield request
        except ConditionFailed as error:
            raise self.explain(error, context) from error
        return response


def given_schema(entity: E, verb: str) -> EntitySchema[E]:
    schema: EntitySchema[E] | None = type(entity).__dict__.get("__entity__")
    if schema is not None:
        return schema
    if entity is None:
        hint = "A get returns None if there is no item."
        raise OperationError(f"There is nothing to {verb}: None was given.", hint=hint)
    return schema_of(type(entity))
