"""IAM policies: the fewest statements that allow exactly what is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, TypeVar

from partita.deploy._roles import Need, Resource
from partita.store import TableNames

Json: TypeAlias = dict[str, Any]
Arns: TypeAlias = Callable[[Resource], Any]
"""Returns the name of a resource in a policy: an ARN as a string, or a reference within a template."""

K = TypeVar("K")
V = TypeVar("V")

LEADING_KEYS: Final = "dynamodb:LeadingKeys"
AS_DECLARED: Final = TableNames(prefix="")


def policy(needs: Iterable[Need], arn: Arns) -> Json:
    """Return the policy that allows exactly these needs."""
    needs = tuple(needs)
    partitions = _grouped(((need.resource, need.action), need.partition) for need in needs)
    actions = _grouped(((resource, keys), action) for (resource, action), keys in partitions.items())
    resources = _grouped(((allowed, keys), resource) for (resource, keys), allowed in actions.items())
    statements = [_statement(where, allowed, keys, arn) for (allowed, keys), where in resources.items()]
    return {"Version": "2012-10-17", "Statement": statements}


def _grouped(pairs: Iterable[tuple[K, V | None]]) -> dict[K, frozenset[V]]:
    """Collect the values of each key, in the order of the keys; None is not collected."""
    groups: dict[K, set[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, set()).update(() if value is None else (value,))
    return {key: frozenset(values) for key, values in groups.items()}


def _statement(resources: frozenset[Resource], actions: frozenset[str], partitions: frozenset[str], arn: Arns) -> Json:
    statement: Json = {
        "Effect": "Allow",
        "Action": sorted(actions),
        "Resource": [arn(resource) for resource in sorted(resources)],
    }
    if partitions:
        # ForAllValues also holds for a request without keys, so a second condition requires that there are some.
        statement["Condition"] = {
            "ForAllValues:StringLike": {LEADING_KEYS: sorted(partitions)},
            "Null": {LEADING_KEYS: "false"},
        }
    return statement


def arns_in(region: str, account: str, *, table_names: TableNames = AS_DECLARED) -> Arns:
    """Return a function that returns the ARN of a resource in a region of an account."""

    def arn(resource: Resource) -> str:
        api = {"queue": "sqs", "dead letters": "sqs", "key": "kms"}.get(resource.kind, "dynamodb")
        return f"arn:aws:{api}:{region}:{account}:{_path(resource, table_names)}"

    return arn


def queue_name(resource: Resource, table_names: TableNames = AS_DECLARED) -> str:
    """The name of a queue or its dead letters in SQS. The prefix of table names also applies to queues."""
    ending = ".fifo" if resource.kind == "queue" else "-dead.fifo"
    return f"{table_names.prefix or ''}{resource.name}{ending}"


def _path(resource: Resource, names: TableNames) -> str:
    match resource.kind:
        case "table":
            return f"table/{names.stored(resource.name)}"
        case "index":
            return f"table/{names.stored(resource.name)}/index/{resource.index}"
        case "stream":
            return f"table/{names.stored(resource.name)}/stream/*"
        case "key":
            return f"key/{resource.name}"
        case _:
            return queue_name(resource, names)
