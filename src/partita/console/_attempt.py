"""Trying an access pattern that reads: its request, its predicted and consumed units, and the items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import msgspec
from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import to_jsonable_python

from partita import (
    AsyncSession,
    Budget,
    Collect,
    CollectionPage,
    Operation,
    Page,
    Pattern,
    Query,
    WalkResult,
    explain,
)
from partita.console._declared import why_closed
from partita.errors import FieldSealed, InvalidKey, OperationError, ValidationFailed
from partita.http import FieldProblem, HttpProblem
from partita.model import EntitySchema
from partita.operations import CollectPage
from partita.patterns import UnfitArgument, operation_of

MASK: Final = "(encrypted)"
"""The text shown instead of the value of an encrypted field."""

READS: Final = ("BatchGetItem", "GetItem", "Query", "SearchVectors", "TransactGetItems")
"""The calls that change nothing."""


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate (half of a character) is not valid text") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""Text that can be encoded. JSON can also contain lone surrogates, which cannot."""


class Attempt(BaseModel):
    """The request of an operator to run a pattern that reads."""

    model_config = ConfigDict(extra="forbid")

    service: Text
    pattern: Text
    arguments: dict[str, Text] = {}
    limit: int = Field(default=20, ge=1, le=100)
    cursor: str | None = None
    reveal: bool = False
    """Whether to show encrypted fields, if the server has the keys to decrypt them."""


class AttemptResult(Struct, frozen=True):
    """The request that was sent, its cost, and its result."""

    call: str
    index: str | None
    request: dict[str, Any]
    requests_sent: int
    predicted: Budget
    assumed_item_bytes: int
    budget: Budget | None
    consumed: Budget
    items: list[Any]
    next_cursor: str | None


async def attempt(pattern: Pattern, wanted: Attempt, session: AsyncSession) -> AttemptResult:
    """Run a pattern that reads.

    Raises:
        HttpProblem: the pattern writes or reads a secret, or an argument is not valid.
    """
    if closed := why_closed(pattern):
        raise HttpProblem(403, "closed", f"{pattern.name} cannot be tried. {closed}")
    with _naming_the_problem(OperationError, OverflowError):
        operation = _operation(pattern, wanted)
        explained = explain(operation)  # the first page, because only the session can read a cursor
    if explained.call not in READS or any(not entity.cls.in_lake for entity in _collected(operation)):
        raise HttpProblem(403, "closed", f"{pattern.name} cannot be tried: it may write, or reads a secret.")
    try:
        with _naming_the_problem(InvalidKey, ValidationFailed), session.meter.watch() as seen:
            result = await session.run(_from(wanted.cursor, operation))
    except FieldSealed as sealed:
        raise HttpProblem(403, "closed", f"{pattern.name} cannot be tried: {sealed.reason}.") from None
    items, cursor = _found(result)
    return AttemptResult(
        explained.call,
        explained.index,
        explained.request,
        sum(len(run.requests) for run in seen),
        explained.predicted,
        explained.assumed_item_bytes,
        explained.budget,
        sum((run.consumed for run in seen), Budget()),
        [_plain(item) if wanted.reveal else _masked(_plain(item), _secrets(pattern)) for item in items],
        cursor,
    )


def _operation(pattern: Pattern, wanted: Attempt) -> Operation[Any]:
    """The operation for the first page."""
    try:
        operation = operation_of(pattern, wanted.arguments)
    except UnfitArgument as unfit:
        raise _unfit(f"arguments.{unfit.parameter}", str(unfit)) from None
    if isinstance(operation, Query) or (isinstance(operation, Collect) and operation.has_pages):
        return operation.page(wanted.limit)
    return operation


@contextmanager
def _naming_the_problem(*kinds: type[Exception]) -> Iterator[None]:
    """Turn these errors into a 422 problem: keys are built from the caller's arguments, and may not be valid."""
    try:
        yield
    except kinds as error:
        raise _unfit(
            "arguments", str(error.args[0])
        ) from error  # without the hint, which is for the developer who declares keys


def _unfit(field: str, reason: str) -> HttpProblem:
    problem = FieldProblem(location="body", field=field, message=reason)
    return HttpProblem(422, "invalid_request", reason, members={"errors": [problem]})


def _collected(operation: Operation[Any]) -> list[EntitySchema[Any]]:
    collection = operation.collection if isinstance(operation, CollectPage) else operation
    return [part.slot.schema for part in collection.parts] if isinstance(collection, Collect) else []


def _from(cursor: str | None, operation: Operation[Any]) -> Operation[Any]:
    if isinstance(operation, CollectPage):
        return operation.collection.page(operation.paged.limit, after=cursor)
    return operation.page(operation.limit, after=cursor) if isinstance(operation, Query) else operation


def _found(result: Any) -> tuple[list[Any], str | None]:
    if isinstance(result, Page):
        return list(result.items), result.next_cursor
    if isinstance(result, CollectionPage):
        return ([] if result.result is None else [result.result]), result.next_cursor
    if isinstance(result, WalkResult | tuple | list):
        return [item for item in result if item is not None], None
    return ([] if result is None else [result]), None


def _plain(item: Any) -> Any:
    return to_jsonable_python(item, by_alias=True, bytes_mode="base64", fallback=msgspec.structs.asdict)


def _secrets(pattern: Pattern) -> frozenset[str]:
    """The names of the encrypted fields of a pattern's table, as written in JSON."""
    return frozenset(name for entity in pattern.table.entities for name in entity.secrets)


def _masked(shown: Any, secrets: frozenset[str]) -> Any:
    """The shown value, with the value of every encrypted field replaced by `MASK`."""
    if isinstance(shown, dict):
        return {name: MASK if name in secrets else _masked(each, secrets) for name, each in shown.items()}
    return [_masked(each, secrets) for each in shown] if isinstance(shown, list) else shown
