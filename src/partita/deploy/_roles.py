"""The permissions that each role of a service needs, and the declared pattern, recipe or routine that needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ModelError
from partita.model import Table, Template
from partita.patterns import DeclaredOperation, Permission
from partita.recipes.versioned import versioned_tables
from partita.service import Service

RoleName: TypeAlias = Literal["request", "worker", "cdc", "maintenance", "caller"]
"""The roles of a service; each has its own policy."""

ROLES: Final[Mapping[RoleName, str]] = {
    "request": "Answers requests.",
    "worker": "Works in the background.",
    "cdc": "Reads change streams.",
    "maintenance": "Scans, migrates, and looks after dead letters.",
    "caller": "Credentials of one caller, who reaches nothing but their own items.",
}
"""What each role does."""

_STREAM_ACTIONS: Final = ("DescribeStream", "GetRecords", "GetShardIterator")
_START: Final = ("DescribeTable", "DescribeTimeToLive")

_SEARCH: Final = "SearchVectors"
_WRITES_ATTRIBUTES: Final = ("BatchWriteItem", "PutItem", "UpdateItem")

_QUEUE_START: Final = ("GetQueueAttributes", "GetQueueUrl")
_SEND: Final = ("SendMessage",)
_RECEIVE: Final = ("ChangeMessageVisibility", "DeleteMessage", "ReceiveMessage")


class Resource(Struct, frozen=True, order=True):
    """A resource that a policy names."""

    kind: Literal["table", "index", "stream", "queue", "dead letters", "key"]
    name: str
    index: str = ""


class Need(Struct, frozen=True):
    """One action on one resource, and the pattern, recipe or routine that needs it."""

    action: str
    resource: Resource
    by: str
    partition: str | None = None
    """The partition keys to which the need is limited, with `*` for any part; None for all."""


class LeftOut(Struct, frozen=True):
    """An operation of the request path that credentials of one caller do not allow, and why."""

    name: str
    reason: str


def needs(service: Service, role: RoleName) -> tuple[Need, ...]:
    """Return everything that a role of a service must be allowed, in the order of declaration.

    Raises:
        ModelError: a pattern does not declare which requests it sends, or a role names an undeclared operation.
    """
    return tuple(dict.fromkeys(_NEEDS[role](service)))


def declared(service: Service) -> dict[str, DeclaredOperation]:
    """Return all operations of a service by name: its access patterns, and the operations of its recipes.

    Raises:
        ModelError: a pattern does not declare which requests it sends.
    """
    found: dict[str, DeclaredOperation] = {}
    for each in (each for table in service.tables for each in _declared_on(table)):
        known = found.get(each.name)  # two tables may each have a pattern of that name
        found[each.name] = each if known is None else replace(known, sends=(*known.sends, *each.sends))
    return found


def _declared_on(table: Table) -> Iterator[DeclaredOperation]:
    for pattern in table.patterns.values():
        if pattern.sends is None:
            hint = "Declare them with via= or writes=; see docs/patterns.md, section Writes."
            raise ModelError(f"{pattern.name} does not declare which requests it sends.", owner=table, hint=hint)
        yield DeclaredOperation(pattern.name, pattern.sends, pattern.doc)
    yield from table.recipes.values()


def used_by(service: Service, role: RoleName) -> tuple[DeclaredOperation, ...]:
    """Return the operations that the request path or the workers of a service use."""
    known = declared(service)
    listed: dict[str, set[str]] = {}
    for who, things in service.roles.items():
        for thing in things:
            name = thing if isinstance(thing, str) else thing.__name__
            if name not in known:
                message = f"{service.name}: the role {who!r} uses {name!r}, which is not declared."
                raise ModelError(message, hint=f"Declared operations: {', '.join(sorted(known))}.")
            listed.setdefault(name, set()).add(who)
    return tuple(each for name, each in known.items() if role in listed.get(name, {"request"}))


def _working(service: Service, role: RoleName) -> Iterator[Need]:
    for each in used_by(service, role):
        for permission in each.sends:
            yield Need(f"dynamodb:{permission.action}", _resource(permission), each.name)
    if role == "request" or service.worker is not None:
        for table in service.tables:
            yield from (Need(f"dynamodb:{action}", Resource("table", table.name), "start") for action in _START)
        yield from _sealing(service)
    for name in service.queues:
        if role == "request" and name in service.worker_queues:
            continue
        yield from _queue_start(name)
        for action in _SEND if role == "request" else (*_SEND, *_RECEIVE):
            yield Need(f"sqs:{action}", Resource("queue", name), "queue")


def _sealing(service: Service) -> Iterator[Need]:
    """Allow requesting new data keys from KMS and decrypting existing ones, for encrypted fields."""
    secrets = any(entity.secrets for table in service.tables for entity in table.entities)
    if service.encryption_key is not None and secrets:
        key = Resource("key", service.encryption_key)
        yield from (Need(f"kms:{action}", key, "encrypted fields") for action in ("Decrypt", "GenerateDataKey"))


def _queue_start(name: str) -> Iterator[Need]:
    """Allow opening a queue: it looks up the queue and its dead letters, and checks that the two are connected."""
    for place in (Resource("queue", name), Resource("dead letters", name)):
        yield from (Need(f"sqs:{action}", place, "start") for action in _QUEUE_START)


def _capturing(service: Service) -> Iterator[Need]:
    for table in service.tables:
        if table.schema.stream == "NEW_AND_OLD_IMAGES" or _is_projected(service, table):
            stream = Resource("stream", table.name)
            yield Need("dynamodb:DescribeTable", Resource("table", table.name), "change stream")
            yield from (Need(f"dynamodb:{action}", stream, "change stream") for action in _STREAM_ACTIONS)


def _is_projected(service: Service, table: Table) -> bool:
    return service.projection is not None and service.projection.table is table


def _maintaining(service: Service) -> Iterator[Need]:
    for table in service.tables:
        yield Need("dynamodb:Scan", Resource("table", table.name), "scan")
        yield from (Need(f"dynamodb:{action}", Resource("table", table.name), "start") for action in _START)
        for versioned in versioned_tables(table):
            if versioned.form.data_version > 1:  # there may be items of older versions, which a backfill rewrites
                name = f"{versioned.form.schema.name}.backfill"
                yield Need("dynamodb:PutItem", Resource("table", table.name), name)
    for name in service.queues:
        yield from _queue_start(name)
        yield from (Need(f"sqs:{action}", Resource("queue", name), "dead letters") for action in _SEND)
        yield from (Need(f"sqs:{action}", Resource("dead letters", name), "dead letters") for action in _RECEIVE)


def _calling(service: Service) -> Iterator[Need]:
    """The needs of those operations of the request path that a policy can limit to the caller's own items."""
    for each in used_by(service, "request"):
        if not _objections(each, service.caller):
            for permission in each.sends:
                own = _own_partition(permission, service.caller)
                yield Need(f"dynamodb:{permission.action}", _resource(permission), each.name, own)


def left_out(service: Service) -> tuple[LeftOut, ...]:
    """Return the operations of the request path that the role `caller` does not allow; none without such a role."""
    if not service.caller:
        return ()
    found = [(each.name, _objections(each, service.caller)) for each in used_by(service, "request")]
    return tuple(LeftOut(name, reasons[0]) for name, reasons in found if reasons)


def _objections(operation: DeclaredOperation, caller: tuple[str, ...]) -> list[str]:
    """Return the reasons why a policy cannot limit an operation to the caller's own items."""
    if any(each.action == _SEARCH for each in operation.sends):
        return ["it searches vectors, and a policy cannot limit a search to a partition"]
    foreign = [each for each in operation.sends if _own_partition(each, caller) is None]
    open_indexes = [name for each in operation.sends for name in _open_indexes(each)]
    return [
        *map(_why_foreign, foreign),
        *(f"it could put an item into anyone's part of the index {name}" for name in open_indexes),
    ]


def _why_foreign(permission: Permission) -> str:
    if _has_one_partition_attribute(permission):
        return f"the partition {permission.partition} does not begin with the caller"
    return f"the partition {permission.partition} has several attributes, on which a policy cannot set conditions"


def _has_one_partition_attribute(permission: Permission) -> bool:
    hashes, _ = permission.table.key_attributes(permission.index)
    return len(hashes) == 1


def _open_indexes(permission: Permission) -> list[str]:
    """Return the indexes whose partition key a request may set to any value.

    A policy can set a condition on the table's partition key, which local indexes share, but not on the value of any
    other attribute. So a caller who may write an item may write it with any key of a global index, even of an index
    that the entity itself is not in.
    """
    if permission.action not in _WRITES_ATTRIBUTES:
        return []
    table = permission.table.schema
    found = [index.name for index in table.indexes if table.hash.name not in {each.name for each in index.hash}]
    return found + [index.name for index in table.vectors if index.hash is not None and index.hash != table.hash]


def _own_partition(permission: Permission, caller: tuple[str, ...]) -> str | None:
    if not _has_one_partition_attribute(permission):
        return None
    template = Template(permission.partition, format=permission.table.key_format)
    if not template.fields or template.fields[0] not in caller:
        return None
    tag = f"${{aws:PrincipalTag/{caller[0]}}}"
    first, *others = template.placeholders
    return template.head + tag + first.tail + "".join(f"*{placeholder.tail}" for placeholder in others)


def _resource(permission: Permission) -> Resource:
    name = permission.table.name
    return Resource("table", name) if permission.index is None else Resource("index", name, permission.index)


_NEEDS: Final = {
    "request": lambda service: _working(service, "request"),
    "worker": lambda service: _working(service, "worker"),
    "cdc": _capturing,
    "maintenance": _maintaining,
    "caller": _calling,
}
