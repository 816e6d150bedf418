"""An audit trail that never fails the audited operation: an event that cannot be written is counted and dropped.

class AuditEntry(AuditRecord, table=AUDIT_TABLE):
    primary: ClassVar = Key("USER#{user_id}", "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}")

class LoggedIn(AuditEvent):
    method: str

AUDIT = AuditTrail(AuditEntry, retention=timedelta(days=90))

db.run(AUDIT.append(LoggedIn(method="strava"), user_id="u1", trace=Trace("req-1", "corr-1")))
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import UUID

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from partita.errors import AlreadyExists, LimitExceeded, ModelError, OperationError, PartitaError
from partita.model import Entity, EntitySchema, kinds_of, schema_of, snake
from partita.operations import Context, Operation, Procedure, Requests, insert
from partita.patterns import declare_operation
from partita.recipes.records import check_complete, check_expires
from partita.session import Meter
from partita.store import PutItem

__all__ = ["RETENTION", "Append", "AuditEvent", "AuditRecord", "AuditTrail", "Trace"]

A = TypeVar("A", bound="AuditRecord")

RETENTION: Final = timedelta(days=90)
"""How long records are kept by default."""

MAX_IN_ONE_INSTANT: Final = 100

_PLAIN: Final = (str, int, bool, Decimal, date, datetime, Enum, UUID)
_CONFIDENTIAL: Final = re.compile(
    r"token|secret|passw|cookie|credential|authori[sz]ation|api_?key|session_id|private_key"
    r"|health|heart|pulse|blood|calorie|weight|sleep"
)


class AuditRecord(Entity):
    """What happened, when, and for whom. Subclass it with a table that has a TTL, and keys for your queries."""

    user_id: str
    event_type: str
    month: str
    """YYYYMM, for an index by event type and month."""
    occurred_at: int
    """Seconds since the epoch."""
    request_id: str
    sequence: int
    """Distinguishes records of one request within one second."""
    correlation_id: str
    details: dict[str, Any] = Field(default_factory=dict)
    ttl: int


class AuditEvent(BaseModel):
    """An audited event. Subclass it: only its fields are ever written.

    Raises (when the class is created):
        ModelError: a field is named like a secret or like health data, or its type allows any value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    event_type: ClassVar[str] = ""
    """The name of the event in records: the name of its class in lower case with underscores."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.event_type = snake(cls.__name__)
        for name, field in cls.model_fields.items():
            if _CONFIDENTIAL.search(name.lower()):
                raise ModelError(f"{cls.__name__}.{name} does not belong in an audit trail.", owner=cls)
            if not all(isinstance(kind, type) and issubclass(kind, _PLAIN) for kind in kinds_of(field.annotation)):
                hint = "Declare each value that may be written as a string, number, date or enum."
                raise ModelError(f"{cls.__name__}.{name} could hold any value.", owner=cls, hint=hint)


class Trace(Struct, frozen=True):
    """The request that an event belongs to, and the larger process around it."""

    request_id: str
    correlation_id: str


class AuditTrail(Generic[A]):
    """Audit records stored in an entity of the application."""

    def __init__(self, record: type[A], *, retention: timedelta = RETENTION) -> None:
        """Declare that events are written to `record`, and kept for `retention`.

        Raises:
            ModelError: records would not expire, or two records of one instant would have the same key.
        """
        self._schema = schema_of(record)
        self._retention = retention
        check_complete(self._schema, AuditRecord)
        check_expires(self._schema)
        if missing := {"occurred_at", "request_id", "sequence"} - set(self._schema.primary.fields):
            message = f"{self._schema.name}: records would overwrite each other without {', '.join(sorted(missing))}."
            raise ModelError(message, owner=record, hint="Put them into the sort key, in this order.")
        declare_operation(self._schema, "append", "Record an event.", PutItem)

    def append(self, event: AuditEvent, *, user_id: str, trace: Trace) -> Procedure[A | None]:
        """Record an event; return None if that failed. This never raises; `dropped` counts lost events."""
        try:
            return (yield from self.entry(event, user_id=user_id, trace=trace))
        except PartitaError:
            return None

    def entry(self, event: AuditEvent, *, user_id: str, trace: Trace) -> Append[A]:
        """The write itself, for callers that must know about a failure."""
        return Append(self._schema, event, user_id, trace, self._retention)

    def dropped(self, meter: Meter) -> int:
        """How many events could not be written by the sessions of this meter."""
        name = _append_name(self._schema)
        return sum(usage.failures for usage in meter.usage() if usage.name == name)


class Append(Operation[A], Generic[A], frozen=True):
    """Record one event, in addition to those that the same request recorded in the same second."""

    schema: EntitySchema[A]
    event: AuditEvent
    user_id: str
    trace: Trace
    retention: timedelta

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return _append_name(self.schema)

    def requests(self, context: Context) -> Requests[A]:
        """Try sequence numbers in order until one is free."""
        now = int(context.clock())
        for sequence in range(MAX_IN_ONE_INSTANT):
            try:
                return (yield from insert(self._record(now, sequence)).requests(context))
            except AlreadyExists:
                continue
        raise LimitExceeded(f"{self.trace.request_id} wrote {MAX_IN_ONE_INSTANT} records in one second.")

    def _record(self, now: int, sequence: int) -> A:
        try:
            return self._made(now, sequence)
        except ValidationError as error:
            raise OperationError(
                f"{self.schema.name} does not accept this event: {error.errors()[0]['msg']}."
            ) from error

    def _made(self, now: int, sequence: int) -> A:
        return self.schema.cls(
            user_id=self.user_id,
            event_type=self.event.event_type,
            month=datetime.fromtimestamp(now, UTC).strftime("%Y%m"),
            occurred_at=now,
            request_id=self.trace.request_id,
            sequence=sequence,
            correlation_id=self.trace.correlation_id,
            details=self.event.model_dump(exclude_none=True),
            ttl=now + int(self.retention.total_seconds()),
        )


def _append_name(schema: EntitySchema[Any]) -> str:
    return f"{schema.name}.append"
