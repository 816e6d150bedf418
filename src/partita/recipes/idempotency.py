"""Idempotent commands: the record of a command, its stored response and its effect commit in one transaction.

class Request(IdempotencyRecord, table=TABLE):
    primary: ClassVar = Key("IDEMPOTENCY#{scope}#{key}", "METADATA")

REQUESTS = Idempotency(Request)

def add_task(task: Task) -> Plan[Task]:
    write = create_task(task)
    return Plan(write.saved, write)

command = Command("u1", "the client's key", fingerprint("POST", "/tasks", body))
outcome = db.run(REQUESTS.run(command, add_task(task), lambda task: StoredResponse.of(task, status=201)))
outcome.response, outcome.replayed
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Any, ClassVar, Final, Generic, TypeVar

from msgspec import Struct
from pydantic import BaseModel, Field

from partita.errors import (
    AlreadyExists,
    ConditionFailed,
    IdempotencyInProgress,
    IdempotencyMismatch,
    OperationError,
    TransactionCancelled,
)
from partita.expressions import Condition
from partita.model import Budget, Entity, EntitySchema, Wcu, all_of, any_of, f, schema_of, snake
from partita.operations import (
    Action,
    Context,
    Delete,
    Get,
    Operation,
    Procedure,
    Put,
    Requests,
    Transaction,
    Update,
    delete,
    reading,
    transact,
    transaction_budget,
    update,
)
from partita.patterns import declare_operation, get
from partita.recipes.records import check_complete, check_expires
from partita.store import PutItem

__all__ = [
    "LIFETIME",
    "Command",
    "CommandOutcome",
    "Idempotency",
    "IdempotencyRecord",
    "Plan",
    "StoredResponse",
    "fingerprint",
    "run_plan",
]

R = TypeVar("R")
S = TypeVar("S")
Record = TypeVar("Record", bound="IdempotencyRecord")

LIFETIME: Final = timedelta(hours=24)
"""How long a response is replayed by default."""

_WRITE_UNITS_PER_READ: Final = 4
"""A read unit covers 4 KB of an item, a write unit 1 KB."""


class IdempotencyRecord(Entity):
    """The record of a command. Subclass it with a table that has a TTL, and a key of `scope` and `key`."""

    in_lake: ClassVar = False

    scope: str
    """The caller: the same key of another caller is another command."""
    key: str
    fingerprint: str
    status: int | None = None
    """None while the command is still running."""
    body: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    owner: str | None = None
    """The process that is running the command, if its effect is outside the store."""
    lease_until: int | None = None
    created_at: int
    ttl: int


class Command(Struct, frozen=True):
    """One command of one caller, identified by a key that the caller chooses."""

    scope: str
    key: str
    fingerprint: str


class StoredResponse(Struct, frozen=True):
    """The response to a command, in the form in which it is stored and replayed."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = {}

    @classmethod
    def of(cls, model: BaseModel, *, status: int = 200, headers: Mapping[str, str] | None = None) -> StoredResponse:
        """The response with a model as its JSON body."""
        return cls(status, model.model_dump_json(by_alias=True), headers or {})


class CommandOutcome(Struct, Generic[R], frozen=True):
    """The response to a command, whether it is a replay of an earlier run, and the result of this run."""

    response: StoredResponse
    replayed: bool = False
    result: R | None = None
    """None if the response is replayed, because only the response is stored."""


class Plan(Generic[R]):
    """The planned writes of a command, and its result; nothing has been written yet.

    The writes are actions, or a declared transaction, whose name and budget the plan takes over:
    `Plan(saved, save_user(…))`.
    """

    __slots__ = ("_whole", "actions", "result")

    def __init__(self, result: R, *actions: Action | Transaction) -> None:
        whole = actions[0] if len(actions) == 1 else None
        self.result = result
        self._whole = whole if isinstance(whole, Transaction) else None
        parts = [each.actions if isinstance(each, Transaction) else (each,) for each in actions]
        self.actions: tuple[Action, ...] = parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))

    def giving(self, result: S) -> Plan[S]:
        """The same plan with another result, such as the response to the caller."""
        return Plan(result, *self.actions) if self._whole is None else Plan(result, self._whole)

    def transaction(self) -> Transaction:
        """All of its actions, or none of them."""
        return self._whole or transact(*self.actions)

    def run(self) -> Procedure[R]:
        """Write it, without recording the command. A single write needs no transaction, which would cost twice as much.

        Raises:
            ConditionFailed: the condition of an action was false, so nothing was written.
        """
        if len(self.actions) == 1 and isinstance(self.actions[0], Operation):
            yield from self.actions[0]
        elif self.actions:
            try:
                yield from self.transaction()
            except TransactionCancelled as cancelled:
                raise cancelled.cause or cancelled from cancelled
        return self.result


def run_plan(plan: Plan[R] | Procedure[Plan[R]]) -> Procedure[R]:
    """Run a procedure that returns a plan, if one is given, and write the plan without recording the command.

    Raises:
        ConditionFailed: the condition of an action was false, so nothing was written.
    """
    planned = yield from _planned(plan)
    return (yield from planned.run())


def fingerprint(*parts: str | bytes) -> str:
    """A digest that distinguishes payloads: of method, path and body, for example."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


class Idempotency(Generic[Record]):
    """Runs each command at most once, storing its response in an entity of the application."""

    def __init__(self, record: type[Record], *, lifetime: timedelta = LIFETIME, budget: Budget | None = None) -> None:
        """Declare that commands are recorded in `record`.

        Args:
            record: a subclass of `IdempotencyRecord` with a table and a key.
            lifetime: how long a response is replayed.
            budget: of the consistent read that looks up a record: 1 RCU for every 4 KB of a response.
                Writing the record may then consume four times as many WCU, and twice that in the command's transaction.

        Raises:
            ModelError: the key does not consist of scope and key, or records would not expire.
        """
        self._schema = schema_of(record)
        self._lifetime = lifetime
        check_complete(self._schema, IdempotencyRecord)
        check_expires(self._schema)
        self._by_key: Callable[[str, str], Get[Record]] = get(
            record,
            name=f"{snake(self._schema.name)}_by_key",
            doc="The record of a command.",
            parameters=["scope", "key"],
            budget=budget,
        )
        self._budget = None if budget is None else Wcu(budget.read * _WRITE_UNITS_PER_READ)
        declare_operation(self._schema, "remember", "Record a command.", PutItem)

    def run(
        self, command: Command, plan: Plan[R] | Procedure[Plan[R]], respond: Callable[[R], StoredResponse]
    ) -> Procedure[CommandOutcome[R]]:
        """Run a command once, or replay its response.

        Args:
            command: the command to run.
            plan: the writes, or a procedure that only reads and returns them. On a replay it is not run.
            respond: converts the plan's result into the response to store.

        Raises:
            IdempotencyMismatch: the key was used with another payload.
            IdempotencyInProgress: the command was started elsewhere and is still running.
            ConditionFailed: a condition of the plan was false; nothing is stored, so the command may be sent again.
        """
        found = yield from self.record(command).consistent()
        if found is not None and found.status is not None:
            return _replay(found, command)
        planned = yield from _planned(plan)
        given = respond(planned.result)
        try:
            yield from _once(planned, self._claim(command, given))
        except TransactionCancelled as cancelled:
            first = cancelled.reasons[-1].error
            if first is not None:
                return _replay(first.current, command)
            raise cancelled.cause or cancelled from cancelled
        return CommandOutcome(given, result=planned.result)

    def begin(self, command: Command, *, owner: str, lease: timedelta) -> Operation[CommandOutcome[Any] | None]:
        """Claim a command whose effect is outside the store. None: the owner is to run it; else its earlier outcome.

        The owner must `complete` or `abandon` it before the lease expires. After that, the same command may be
        started again, so its effect may happen twice if the first owner died or was late.

        Raises:
            IdempotencyMismatch: the key was used with another payload.
            IdempotencyInProgress: another owner is running it.
        """
        return _Begin(self._claim(command, None, owner, lease))

    def complete(self, command: Command, response: StoredResponse, *, owner: str) -> Update[Record]:
        """Store the response to a command that was started; alone, or in a transaction with the command's writes.

        Raises:
            ConditionFailed: another owner has taken the command over.
        """
        record = self._schema.cls
        return update(
            self.record(command),
            f(record.status).set(response.status),
            f(record.body).set(response.body),
            f(record.headers).set(dict(response.headers)),
            f(record.lease_until).remove(),
        ).when(_is_running_for(record, owner))

    def abandon(self, command: Command, *, owner: str) -> Delete[Record]:
        """Delete the record of a started command that had no effect, so that it may be sent again immediately."""
        return delete(self.record(command)).when(_is_running_for(self._schema.cls, owner))

    def record(self, command: Command) -> Get[Record]:
        """The record of a command."""
        return self._by_key(command.scope, command.key)

    def _claim(
        self,
        command: Command,
        response: StoredResponse | None,
        owner: str | None = None,
        lease: timedelta | None = None,
    ) -> _Claim:
        return _Claim(self._schema, command, self._lifetime, response, owner, lease, self._budget)


class _Claim(Struct, frozen=True):
    """Write the record of a command that is free: it has no record, an expired one, or one with an expired lease."""

    schema: EntitySchema[Any]
    command: Command
    lifetime: timedelta
    response: StoredResponse | None
    owner: str | None
    lease: timedelta | None
    budget: Budget | None

    def action(self, context: Context) -> PutItem:
        """The request to send, alone or in a transaction."""
        now = int(context.clock())
        return Put(self.schema, self._record(now), condition=self._free(now)).action(context)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:  # noqa: ARG002 - one signature
        """The error if the command has a record: `current`, which was live when the condition was checked."""
        current = None if error.item is None else self.schema.entity(error.item)
        return AlreadyExists("The command was already sent.", item=error.item, current=current)

    def _record(self, now: int) -> IdempotencyRecord:
        record: IdempotencyRecord = self.schema.cls(
            scope=self.command.scope,
            key=self.command.key,
            fingerprint=self.command.fingerprint,
            status=None if self.response is None else self.response.status,
            body="" if self.response is None else self.response.body,
            headers={} if self.response is None else dict(self.response.headers),
            owner=self.owner,
            lease_until=None if self.lease is None else now + int(self.lease.total_seconds()),
            created_at=now,
            ttl=now + int(self.lifetime.total_seconds()),
        )
        return record

    def _free(self, now: int) -> Condition:
        record: type[IdempotencyRecord] = self.schema.cls
        lease_is_over = all_of(
            f(record.lease_until).le(now),
            f(record.fingerprint).eq(self.command.fingerprint),
        )
        return any_of(f(record.scope).missing(), f(record.ttl).le(now), lease_is_over)


class _Begin(Operation[CommandOutcome[Any] | None], frozen=True):
    """Claim a command, or return its earlier outcome."""

    claim: _Claim

    def default_name(self) -> str:
        """The name of the operation."""
        return f"{self.claim.schema.name}.begin"

    def requests(self, context: Context) -> Requests[CommandOutcome[Any] | None]:
        """Send one conditional put; if it fails, the stored record decides."""
        try:
            yield self.claim.action(context)
        except ConditionFailed as error:
            return _replay(self.claim.explain(error, context).current, self.claim.command)
        return None


def _planned(plan: Plan[R] | Procedure[Plan[R]]) -> Procedure[Plan[R]]:
    """The plan, or the one that a procedure returns.

    Raises:
        OperationError: there is none.
    """
    planned = (yield from reading(plan)) if isinstance(plan, Generator) else plan
    if not isinstance(planned, Plan):
        hint = "Pass Plan(result, *writes), or call a procedure that returns one."
        raise OperationError(f"{type(planned).__name__} is not a plan.", hint=hint)
    return planned


def _once(plan: Plan[Any], record: _Claim) -> Transaction:
    """The transaction of a command and its record, metered under the name of the command's writes."""
    both = transact(*plan.actions, record)
    recording = transaction_budget((record,))
    if not plan.actions:
        return both.labelled(f"{record.schema.name}.remember", budget=recording)
    planned = plan.transaction()
    budget = None if planned.budget is None or recording is None else planned.budget + recording
    return both.labelled(planned.name, budget=budget)


def _replay(record: IdempotencyRecord, command: Command) -> CommandOutcome[Any]:
    if record.fingerprint != command.fingerprint:
        raise IdempotencyMismatch("This idempotency key was used with another request.")
    if record.status is None:
        raise IdempotencyInProgress("The first request with this idempotency key is still running.")
    return CommandOutcome(StoredResponse(record.status, record.body, record.headers), replayed=True)


def _is_running_for(record: type[IdempotencyRecord], owner: str) -> Condition:
    return all_of(f(record.owner).eq(owner), f(record.status).missing())
