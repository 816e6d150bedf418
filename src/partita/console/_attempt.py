"""Trying an access pattern that reads: its request, its predicted and its consumed units, and the items."""

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
"""What stands for the value of an encrypted field."""

READS: Final = ("BatchGetItem", "GetItem", "Query", "SearchVectors", "TransactGetItems")
"""The calls that change nothing."""


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a character (a lone surrogate) is not text") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""Text that can be sent. JSON can also hold half of a character, which cannot."""


class Attempt(BaseModel):
    """What an operator wants to read."""

    model_config = ConfigDict(extra="forbid")

    service: Text
    pattern: Text
    arguments: dict[str, Text] = {}
    limit: int = Field(default=20, ge=1, le=100)
    cursor: str | None = None
    reveal: bool = False
    """Whether encrypted fields are shown, where the server has the keys to open them."""


class AttemptResult(Struct, frozen=True):
    """What was sent, what it cost, and what was found."""

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
        HttpProblem: it writes or reads a secret, or an argument does not fit.
    """
    if closed := why_closed(pattern):
        raise HttpProblem(403, "closed", f"{pattern.name} cannot be tried. {closed}")
    with _naming_the_problem(OperationError, OverflowError):
        operation = _operation(pattern, wanted)
        explained = explain(operation)  # of the first page: only the session can read a cursor
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
    """The operation, at the beginning of what it reads."""
    try:
        operation = operation_of(pattern, wanted.arguments)
    except UnfitArgument as unfit:
        raise _unfit(f"arguments.{unfit.parameter}", str(unfit)) from None
    if isinstance(operation, Query) or (isinstance(operation, Collect) and operation.has_pages):
        return operation.page(wanted.limit)
    return operation


@contextmanager
def _naming_the_problem(*kinds: type[Exception]) -> Iterator[None]:
    """Keys are made of what the caller wrote. Where that is not possible, or DynamoDB refuses such a key, say why."""
    try:
        yield
    except kinds as error:
        raise _unfit(
            "arguments", str(error.args[0])
        ) from error  # without the hint, which is for those who declare keys


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
    """The names of encrypted fields of a pattern's table, as they are written in JSON."""
    return frozenset(name for entity in pattern.table.entities for name in entity.secrets)


def _masked(shown: Any, secrets: frozenset[str]) -> Any:
    """What is shown, with a word in the place of every encrypted field."""
    if isinstance(shown, dict):
        return {name: MASK if name in secrets else _masked(each, secrets) for name, each in shown.items()}
    return [_masked(each, secrets) for each in shown] if isinstance(shown, list) else shown
