"""Explaining an operation: the request it sends, the index that serves it, its predicted and its measured cost."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any, Final

from msgspec import Struct

from partita.encryption import as_if_sealed
from partita.errors import OperationError
from partita.model import Budget, EntitySchema, Table
from partita.operations import ASSUMED_VECTORS, Context, Operation, forecast
from partita.runtime import Together
from partita.session import Session
from partita.store import QueryTable, Request, SearchVectors, TableNames, api_call, stored_request

SHOWN: Final = 2
"""How many of the requests that are sent together are printed."""


class Explanation(Struct, frozen=True):
    """What an operation sends, its predicted cost, and after a run its consumption."""

    name: str
    call: str
    index: str | None
    request: dict[str, Any]
    predicted: Budget
    assumed_item_bytes: int
    budget: Budget | None
    consumed: Budget | None = None
    requests_sent: int | None = None
    at_once: tuple[dict[str, Any], ...] = ()
    """All requests that are sent together, if more than one: for each shard, or for each range."""
    assumed_vectors: int = ASSUMED_VECTORS

    def __str__(self) -> str:
        times = f", {len(self.at_once)} at once" if self.at_once else ""
        lines = [
            f"{self.name}: {self.call} on {self.index or 'the table'}{times}",
            f"  predicted: {self.predicted} (with {self._assumptions()})",
            f"  budget:    {self.budget or 'none declared'}",
        ]
        if self.consumed is not None:
            lines.append(f"  consumed:  {self.consumed} in {self.requests_sent} request(s)")
        requests = self.at_once[:SHOWN] or (self.request,)
        lines += [json.dumps(request, indent=2, ensure_ascii=False) for request in requests]
        more = len(self.at_once) - SHOWN
        return "\n".join([*lines, f"and {more} more like these"] if more > 0 else lines)

    def _assumptions(self) -> str:
        vectors = f"{self.assumed_vectors:,} vectors to search, and " if self.predicted.searched else ""
        return f"{vectors}items of {self.assumed_item_bytes:,} bytes"


def explain(
    operation: Operation[Any],
    session: Session | None = None,
    *,
    item_bytes: int = 1_024,
    vectors: int = ASSUMED_VECTORS,
    table_names: TableNames | None = None,
) -> Explanation:
    """Explain an operation; with a session, also run it and include what it consumed.

    Args:
        operation: any operation; it is not changed.
        session: runs the operation, so a write is really executed.
        item_bytes: the assumed size of stored items, for the prediction.
        vectors: the assumed number of vectors in the partition of a search.
        table_names: the names of the tables in the request; by default as in the session.

    Raises:
        OperationError: it is not an operation.
    """
    if not hasattr(operation, "requests"):
        raise _not_an_operation(operation)
    names = session.table_names if session is not None and table_names is None else table_names
    context = session.context if session is not None else Context()
    requests = [as_if_sealed(each) for each in _first_requests(operation.requests(context))]
    first = requests[0] if requests else None
    calls = [api_call(stored_request(request, names)) for request in requests] or [("nothing to send", {})]
    consumed, sent = (None, None) if session is None else _run(operation, session)
    return Explanation(
        name=operation.name,
        call=calls[0][0],
        index=first.index if isinstance(first, QueryTable | SearchVectors) else None,
        request=calls[0][1],
        predicted=sum((forecast(each, tables_of(operation), item_bytes, vectors) for each in requests), Budget()),
        assumed_item_bytes=item_bytes,
        budget=operation.budget,
        consumed=consumed,
        requests_sent=sent,
        at_once=tuple(parameters for _, parameters in calls) if len(calls) > 1 else (),
        assumed_vectors=vectors,
    )


def _not_an_operation(given: object) -> OperationError:
    name = getattr(given, "__name__", type(given).__name__)
    hint = "Call it with its arguments." if callable(given) else "Pass one operation, such as a pattern's."
    return OperationError(f"{name} is not an operation.", hint=hint)


def _first_requests(requests: Generator[Any, Any, Any]) -> list[Request[Any]]:
    """The first requests: a single one, or all that are sent together."""
    first = next(requests, None)
    found = [first] if isinstance(first, Request) else []
    if isinstance(first, Together):
        found = [request for part in first.parts for request in _first_requests(part)]
    requests.close()
    return found


def tables_of(part: object) -> Iterator[Table]:
    """Yield the tables that an operation, or a part of one, uses."""
    if isinstance(part, Table):
        yield part
    elif isinstance(part, EntitySchema):
        yield part.table
    elif isinstance(part, tuple):
        for element in part:
            yield from tables_of(element)
    elif isinstance(part, Struct):
        for name in part.__struct_fields__:
            yield from tables_of(getattr(part, name))


def _run(operation: Operation[Any], session: Session) -> tuple[Budget, int]:
    with session.meter.watch() as seen:
        session.run(operation)
    (consumption,) = seen
    return consumption.consumed, len(consumption.requests)
