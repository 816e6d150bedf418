"""PartiQL statements, from their text to a store that has a table."""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from fuzz.fields import sent_texts
from fuzz.targets.table import ITEMS, table_store
from partita.errors import RequestError
from partita.runtime import run
from partita.store import Json
from partita.wire._operations import operations
from partita.wire._parameters import Operation, Parameters

NOW: Final = 1_000_000.0


def partiql(data: bytes) -> None:
    """Execute a statement with its parameters as JSON and a token; it is executed, or refused as by DynamoDB."""
    statement, parameters, token = sent_texts(data, 3)
    call: Json = {"Statement": statement}
    if parameters:
        try:
            call["Parameters"] = msgspec.json.decode(parameters)
        except (msgspec.DecodeError, RecursionError):
            return
    response = _executed("ExecuteStatement", call | ({"NextToken": token} if token else {}))
    assert response is None or len(response["Items"]) <= len(ITEMS)
    batch = _executed("BatchExecuteStatement", {"Statements": [call]})
    assert batch is not None
    assert len(batch["Responses"]) == 1
    together = _executed("ExecuteTransaction", {"TransactStatements": [call]})
    assert together is None or len(together["Responses"]) <= 1


def _executed(name: str, call: Json) -> Json | None:
    """The response as a client reads it; None if the call is refused."""
    try:
        response = run(_operations()[name](Parameters(call)), table_store().execute)
    except RequestError:
        return None
    read: Json = msgspec.json.decode(msgspec.json.encode(response))
    return read


@cache
def _operations() -> dict[str, Operation]:
    return dict(operations(lambda: NOW))
