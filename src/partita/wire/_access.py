"""Checks requests against the resource policies of tables and streams.

The access key belongs to the owner of the account, who may do everything that no policy forbids. So Allow statements
have no effect, and only Deny statements are enforced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from partita.runtime import Clock, run
from partita.store import (
    BatchGetItem,
    BatchWriteItem,
    ConditionCheck,
    DeleteItem,
    GetItem,
    Json,
    PutItem,
    QueryTable,
    ReadStream,
    Request,
    ScanTable,
    SearchVectors,
    Store,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.wire._describe import ACCOUNT, stream_arn, table_arn
from partita.wire._faults import Fault
from partita.wire.tables import OWN, SETTINGS_TABLE, Policy, read_settings

FRESH_SECONDS: Final = 1.0
"""For how long cached policies are used before they are read again: another process may have changed them."""
_WRITES: Final = ("PutResourcePolicy", "DeleteResourcePolicy", "CreateTable", "DeleteTable")
_STATEMENTS: Final = ("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction")
_PARTIQL: Final = {
    PutItem: "PartiQLInsert",
    UpdateItem: "PartiQLUpdate",
    DeleteItem: "PartiQLDelete",
}
_ACTIONS: Final = {
    PutItem: "PutItem",
    UpdateItem: "UpdateItem",
    DeleteItem: "DeleteItem",
    ConditionCheck: "ConditionCheckItem",
}


class PolicyGuard:
    """Refuses requests that a policy denies to the owner of the access key."""

    def __init__(self, key: str, timer: Clock) -> None:
        self._principal = f"arn:aws:iam::{ACCOUNT}:user/{key}"
        self._known = {
            "aws:principalarn": self._principal,
            "aws:principalaccount": ACCOUNT,
            "aws:principaltype": "User",
            "aws:username": key,
            "aws:securetransport": "false",
        }
        self._timer = timer
        self._policies: dict[tuple[int, str], tuple[float, dict[str, list[Json]]]] = {}

    def check(self, store: Store, region: str, operation: str, request: Request[Any]) -> None:
        """Refuse the request if a policy denies it.

        Raises:
            Fault: AccessDeniedException, with the message of AWS.
        """
        if operation in _WRITES:
            self._policies.clear()
        for action, table, index in set(_accesses(operation, request)):
            arn = table_arn(region, table)
            of_table = self._of(store, table)
            for label, statements in of_table.items():
                whole = arn if label == OWN else stream_arn(region, table, label)
                resource = f"{arn}/index/{index}" if index and label == OWN else whole
                is_stream = type(request) is ReadStream or operation == "DescribeStream"
                if (label != OWN) == is_stream and any(self._denies(each, action, resource) for each in statements):
                    message = f"User: {self._principal} is not authorized to perform: dynamodb:{action} on resource: "
                    denied = "with an explicit deny in a resource-based policy"
                    raise Fault("AccessDeniedException", f"{message}{resource} {denied}")

    def _of(self, store: Store, table: str) -> dict[str, list[Json]]:
        """The Deny statements of the table and of its streams, by stream label."""
        name, now = (id(store), table), self._timer()
        read_at, found = self._policies.get(name, (-FRESH_SECONDS, {}))
        if now - read_at < FRESH_SECONDS:
            return found
        settings = run(read_settings(table), store.execute)
        denials = {label: _denials(policy) for label, policy in settings.policies.items()}
        self._policies[name] = now, denials
        return denials

    def _denies(self, statement: Json, action: str, resource: str) -> bool:
        return (
            self._is_meant(statement)
            and _applies(statement, "Action", f"dynamodb:{action}", any_case=True)
            and _applies(statement, "Resource", resource)
            and all(self._holds(operator, tests) for operator, tests in statement.get("Condition", {}).items())
        )

    def _is_meant(self, statement: Json) -> bool:
        if "NotPrincipal" in statement:
            return not self._is_among(statement["NotPrincipal"])
        return self._is_among(statement["Principal"])

    def _is_among(self, principal: Any) -> bool:
        names = principal if isinstance(principal, str) else principal.get("AWS", [])
        mine = ("*", ACCOUNT, f"arn:aws:iam::{ACCOUNT}:root", self._principal)
        return any(name in mine for name in _texts(names))

    def _holds(self, operator: str, tests: Mapping[str, Any]) -> bool:
        """Whether the known attributes of the caller pass; an unknown condition key passes only negated operators."""
        negated = "Not" in operator
        like = "Like" in operator or operator.startswith("Arn")
        for key, wanted in tests.items():
            known = self._known.get(key.lower())
            found = known is not None and any(_matches(known, text, like=like) for text in _texts(wanted))
            if found == negated:
                return False
        return True


def _denials(policy: Policy) -> list[Json]:
    document: Json = msgspec.json.decode(policy.text)
    return [statement for statement in document["Statement"] if statement["Effect"] == "Deny"]


def _texts(value: Any) -> list[str]:
    return [str(text).lower() if isinstance(text, bool) else str(text) for text in _list(value)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _matches(text: str, pattern: str, *, like: bool = True) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]")) if like else text == pattern


def _applies(statement: Json, part: str, text: str, *, any_case: bool = False) -> bool:
    negated = f"Not{part}" in statement
    patterns = _texts(statement[f"Not{part}" if negated else part])
    if any_case:
        text, patterns = text.lower(), [pattern.lower() for pattern in patterns]
    return any(_matches(text, pattern) for pattern in patterns) != negated


def _accesses(operation: str, request: Request[Any]) -> Iterator[tuple[str, str, str | None]]:
    """The action, table and index of each access that the request makes."""
    statements = operation in _STATEMENTS
    match request:
        case TransactWriteItems(actions=actions):
            for action in actions:
                names = _PARTIQL if statements else _ACTIONS
                yield names.get(type(action), _ACTIONS[type(action)]), action.table, None
        case TransactGetItems(gets=gets) | BatchGetItem(gets=gets):
            one = "PartiQLSelect" if statements else "GetItem" if operation == "TransactGetItems" else operation
            yield from ((one, get.table, None) for get in gets)
        case BatchWriteItem(writes=writes):
            yield from ((operation, write.table, None) for write in writes)
        case GetItem() | QueryTable() | ScanTable() | SearchVectors() if request.table != SETTINGS_TABLE:
            yield "PartiQLSelect" if statements else operation, request.table, getattr(request, "index", None)
        case PutItem() | UpdateItem() | DeleteItem() if request.table != SETTINGS_TABLE:
            yield _PARTIQL[type(request)] if statements else operation, request.table, None
        case _:
            table = getattr(request, "table", None)
            if table not in (None, SETTINGS_TABLE) and not statements:
                yield operation, str(table), None
