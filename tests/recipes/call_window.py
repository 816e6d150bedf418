"""A recipe as users write it, with public names only: a limit on the calls in a window of time.

class ApiCalls(CallCount, table=TABLE):
    primary: ClassVar = Key("CALLS#{caller}", "WINDOW#{window:012}")

CALLS = CallWindow(ApiCalls, limit=100, window=timedelta(minutes=1))

db.run(CALLS.admit("ann"))
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Generic, TypeVar

from partita.errors import ConditionFailed, LimitReached
from partita.model import Entity, any_of, f, schema_of, snake, to_update
from partita.operations import Context, Get, Operation, Requests
from partita.patterns import declare_operation, get
from partita.recipes.records import check_complete, check_expires
from partita.store import UpdateItem, WriteResponse

C = TypeVar("C", bound="CallCount")


class CallCount(Entity):
    """The number of calls of one caller in one window. Subclass it for a table with a TTL; its key consists of both."""

    caller: str
    window: int
    calls: int = 0
    ttl: int


class CallWindow(Generic[C]):
    """Admits a limited number of calls of each caller in each window."""

    def __init__(self, record: type[C], *, limit: int, window: timedelta) -> None:
        """Declare a limit whose counts are stored in `record`.

        Raises:
            ModelError: the key does not consist of caller and window, or counts would not expire.
        """
        schema = schema_of(record)
        check_complete(schema, CallCount)
        check_expires(schema)
        self.limit = limit
        self.seconds = int(window.total_seconds())
        self.calls_in: Callable[[str, int], Get[C]] = get(
            record,
            name=f"{snake(schema.name)}_in_window",
            doc="How many calls were made.",
            parameters=["caller", "window"],
        )
        declare_operation(schema, "admit", "A call is counted, or refused.", UpdateItem)

    def admit(self, caller: str) -> Admit[C]:
        """Count a call.

        Raises:
            LimitReached: the window already has as many calls as the limit allows.
        """
        return Admit(self, caller)


class Admit(Operation[C], Generic[C], frozen=True):
    """Count one call, and return the stored count."""

    limit: CallWindow[C]
    caller: str

    def default_name(self) -> str:
        """The name of the operation in metrics."""
        return f"{self.limit.calls_in(self.caller, 0).schema.name}.admit"

    def requests(self, context: Context) -> Requests[C]:
        """Send one conditional update, which creates the item if it does not exist."""
        window = int(context.clock()) // self.limit.seconds
        at = self.limit.calls_in(self.caller, window)
        record = at.schema.cls
        changes = (
            f(record.caller).set(self.caller),
            f(record.window).set(window),
            f(record.ttl).set((window + 2) * self.limit.seconds),
            f(record.calls).add(1),
        )
        room = any_of(f(record.calls).missing(), f(record.calls).lt(self.limit.limit))
        table = at.schema.table.name
        try:
            response: WriteResponse = yield UpdateItem(table, at.key, to_update(changes), room, returns="ALL_NEW")
        except ConditionFailed as error:
            message = f"{self.caller} made {self.limit.limit} calls in {self.limit.seconds} seconds."
            raise LimitReached(message, remaining=0, item=error.item) from error
        counted: C = at.schema.entity(response.attributes or {})
        return counted
