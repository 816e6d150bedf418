"""The base of every operation: a frozen value with a result type that builds requests and parses their responses."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.operations._cursor import CursorSealer
from partita.operations._unclaimed import UnclaimedItems
from partita.runtime import Clock, Pause, RetryPolicy, Together, system_clock
from partita.store import Request

if TYPE_CHECKING:
    from partita.model import Budget
    from partita.patterns import Pattern
else:
    Budget = Pattern = Any  # so that `help()` can list the fields: it evaluates their annotations

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


Requests: TypeAlias = Generator[Request[Any] | Pause | UnclaimedItems | Together, Any, R]
"""The generator of an operation: it yields requests, is sent their responses, and returns its result."""


class Context(Struct, frozen=True):
    """What an operation may need from its session: clock, random numbers, cursor sealer and retry policy."""

    clock: Clock = system_clock
    random: random.Random = random.Random()  # noqa: S311 - shared on purpose; it only spreads retries
    cursors: CursorSealer = CursorSealer(b"")
    retry: RetryPolicy = RetryPolicy()


class Label(Struct, frozen=True):
    """The name under which an operation of a recipe is metered, and its budget."""

    name: str
    budget: Budget | None = None


class Operation(Struct, Generic[R_co], frozen=True, kw_only=True):
    """A value that can be run, awaited, put into a transaction, explained, or checked against a budget.

    In a procedure, `result = yield from operation` runs it.
    """

    sends: ClassVar[tuple[type[Any], ...]] = ()
    """The request types for single items; empty if they depend on the value, as in a transaction."""
    listed_as: ClassVar[Literal["get", "query", "collect", "search"] | None] = None
    """The list in which an access pattern that returns this operation appears; None if its budget decides that."""

    pattern: Pattern | None = None
    label: Label | None = None
    """Its name and budget if no access pattern was declared."""

    def __iter__(self) -> Generator[Operation[Any], Any, R_co]:
        return (yield self)  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """The name under which it is metered: of its access pattern, or else its label, or else its kind."""
        return self.name_and_budget()[0]

    @property
    def budget(self) -> Budget | None:
        """What it may consume, from its access pattern or its label, or else computed from its parts."""
        return self.name_and_budget()[1]

    def name_and_budget(self) -> tuple[str, Budget | None]:
        """Both the name and the budget, because every run needs both."""
        named = self.pattern or self.label
        return (self.default_name(), self.default_budget()) if named is None else (named.name, named.budget)

    def labelled(self, name: str, *, budget: Budget | None = None) -> Self:
        """The same operation with its own name and budget, for operations without a declared access pattern."""
        return replace(self, label=Label(name, budget))

    def default_name(self) -> str:
        """The name if there is neither a pattern nor a label."""
        return type(self).__name__

    def default_budget(self) -> Budget | None:
        """The budget if there is neither a pattern nor a label."""
        return None

    def requests(self, context: Context) -> Requests[R_co]:
        """Yield requests, receive the responses, return the result."""
        raise NotImplementedError


Procedure: TypeAlias = Generator[Operation[Any], Any, R]
"""Several operations in sequence: a generator function with `yield from`, run by either kind of session."""
