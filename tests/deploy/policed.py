"""A store behind a policy: it refuses what the policy does not allow, as AWS would, and records what is used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from partita import REGISTRY
from partita.deploy import Resource, arns_in
from partita.errors import AccessDenied
from partita.patterns import parts_of
from partita.queue import Queue
from partita.queue import _interface as rq
from partita.store import DescribeStream, DescribeTable, ReadStream, Request, Store

R = TypeVar("R")

ARNS = arns_in("*", "*")


class PolicedStore:
    """A store as a role with this policy sees it. `tags` are the session tags, which identify the caller."""

    def __init__(self, store: Store, policy: dict[str, Any], *, tags: dict[str, str] | None = None) -> None:
        self.behind = store
        self._statements = policy["Statement"]
        self._tags = tags or {}
        self.used: set[tuple[str, str]] = set()
        self.denied: list[str] = []

    def execute(self, request: Request[R]) -> R:
        self._check(request)
        return self.behind.execute(request)

    async def execute_async(self, request: Request[R]) -> R:
        self._check(request)
        return await self.behind.execute_async(request)

    def gate(self, queue: Queue) -> PolicedQueue:
        """Return a queue that records its use together with that of the store."""
        return PolicedQueue(queue, self.used)

    def close(self) -> None:
        """Do nothing: the inner store is closed by its fixture."""

    def _check(self, request: Request[Any]) -> None:
        for action, arn, leading_key in asked_by(request):
            self.used.add((action, arn))
            if not any(self._allows(statement, action, arn, leading_key) for statement in self._statements):
                self.denied.append(f"{action} on {arn}")
                raise AccessDenied(f"Not authorized to perform {action} on {arn}.")

    def _allows(self, statement: dict[str, Any], action: str, arn: str, leading_key: str | None) -> bool:
        if action not in statement["Action"] or arn not in statement["Resource"]:
            return False
        if "Condition" not in statement:
            return True
        assert statement["Condition"]["Null"] == {"dynamodb:LeadingKeys": "false"}
        patterns = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        return leading_key is not None and any(self._is_like(leading_key, pattern) for pattern in patterns)

    def _is_like(self, key: str, pattern: str) -> bool:
        for name, value in self._tags.items():
            pattern = pattern.replace(f"${{aws:PrincipalTag/{name}}}", value)
        return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key) is not None


class PolicedQueue:
    """A queue that records its use as AWS would see it."""

    def __init__(self, queue: Queue, used: set[tuple[str, str]]) -> None:
        self._queue = queue
        self.used = used
        self.name = queue.name

    def execute(self, request: rq.QueueRequest[R]) -> R:
        self._note(request)
        return self._queue.execute(request)

    async def execute_async(self, request: rq.QueueRequest[R]) -> R:
        self._note(request)
        return await self._queue.execute_async(request)

    def close(self) -> None:
        self._queue.close()

    def _note(self, request: rq.QueueRequest[Any]) -> None:
        for action in _QUEUE_ACTIONS[type(request)]:
            self.used.add((f"sqs:{action}", ARNS(Resource("queue", self.name))))
        if isinstance(request, rq.Create | rq.GetStats):
            for action in _QUEUE_ACTIONS[type(request)]:
                self.used.add((f"sqs:{action}", ARNS(Resource("dead letters", self.name))))


_QUEUE_ACTIONS: Final[Mapping[type, tuple[str, ...]]] = {
    rq.Create: ("GetQueueUrl", "GetQueueAttributes"),
    rq.Send: ("SendMessage",),
    rq.Receive: ("ReceiveMessage",),
    rq.Acknowledge: ("DeleteMessage",),
    rq.Postpone: ("ChangeMessageVisibility",),
    rq.GetStats: ("GetQueueUrl", "GetQueueAttributes"),
}


def asked_by(request: Request[Any]) -> Iterator[tuple[str, str, str | None]]:
    """Yield the actions and resources for which the remote store calls AWS, each with its partition key."""
    if isinstance(request, DescribeTable):
        for action in ("DescribeTable", "DescribeTimeToLive"):
            yield f"dynamodb:{action}", ARNS(Resource("table", request.table)), None
    elif isinstance(request, DescribeStream | ReadStream):
        yield "dynamodb:DescribeTable", ARNS(Resource("table", request.table)), None
        kinds = ("DescribeStream",) if isinstance(request, DescribeStream) else ("GetShardIterator", "GetRecords")
        for action in kinds:
            yield f"dynamodb:{action}", ARNS(Resource("stream", request.table)), None
    else:
        found = list(parts_of(request))
        for sent in found:
            (hash_key, *_), _ = REGISTRY[sent.table].key_attributes(sent.index)
            where = Resource("index", sent.table, sent.index) if sent.index else Resource("table", sent.table)
            yield f"dynamodb:{sent.action}", ARNS(where), sent.key.get(hash_key.name)
        if not found:
            yield f"dynamodb:{type(request).__name__}", "*", None


def allowed_by(policy: dict[str, Any]) -> set[tuple[str, str]]:
    """Return each pair of an action and a resource that a policy allows."""
    return {
        (action, resource)
        for statement in policy["Statement"]
        for action in statement["Action"]
        for resource in statement["Resource"]
    }
