"""What every operation is: a frozen value with a result type, which makes requests and reads their responses."""

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
    Budget = Pattern = Any  # so that `help()` can tell the fields: it evaluates what they are annotated with

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


Requests: TypeAlias = Generator[Request[Any] | Pause | UnclaimedItems | Together, Any, R]
"""What an operation does: it yields requests, is sent their responses, and returns its result."""


class Context(Struct, frozen=True):
    """What an operation may need from outside: time, randomness, the sealer of cursors, and when to try again."""

    clock: Clock = system_clock
    random: random.Random = random.Random()  # noqa: S311 - shared on purpose, spreads retries, guards nothing
    cursors: CursorSealer = CursorSealer(b"")
    retry: RetryPolicy = RetryPolicy()


class Label(Struct, frozen=True):
    """What an operation of a recipe is metered under, and what it may consume."""

    name: str
    budget: Budget | None = None


class Operation(Struct, Generic[R_co], frozen=True, kw_only=True):
    """A value that can be run, awaited, put into a transaction, explained, or checked against a budget.

    In a procedure, `result = yield from operation` runs it.
    """

    sends: ClassVar[tuple[type[Any], ...]] = ()
    """The kinds of request for single items; none where that depends on the value, as in a transaction."""
    listed_as: ClassVar[Literal["get", "query", "collect", "search"] | None] = None
    """Among which access patterns one is listed that gives such an operation; None where its budget decides."""

    pattern: Pattern | None = None
    label: Label | None = None
    """Its name and budget where no access pattern was declared."""

    def __iter__(self) -> Generator[Operation[Any], Any, R_co]:
        return (yield self)  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """What it is metered under: its access pattern, or else its label, or else its kind."""
        return self.name_and_budget()[0]

    @property
    def budget(self) -> Budget | None:
        """What it may consume: what its access pattern or its label says, or else what follows from its parts."""
        return self.name_and_budget()[1]

    def name_and_budget(self) -> tuple[str, Budget | None]:
        """Both at once, as every run asks for them."""
        named = self.pattern or self.label
        return (self.default_name(), self.default_budget()) if named is None else (named.name, named.budget)

    def labelled(self, name: str, *, budget: Budget | None = None) -> Self:
        """The same operation under a name of its own, and with a budget, where no access pattern was declared."""
        return replace(self, label=Label(name, budget))

    def default_name(self) -> str:
        """The name where neither a pattern nor a label gives one."""
        return type(self).__name__

    def default_budget(self) -> Budget | None:
        """The budget where neither a pattern nor a label gives one."""
        return None

    def requests(self, context: Context) -> Requests[R_co]:
        """Yield requests, read the responses, return the result."""
        raise NotImplementedError


Procedure: TypeAlias = Generator[Operation[Any], Any, R]
"""Several operations in order: a generator function with `yield from`, run by either kind of session."""
