"""What every operation is: a frozen value with a result type, which makes requests and reads their responses."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.operations._cursor import CursorSigner
from partita.runtime import Clock, Pause, RetryPolicy, system_clock

if TYPE_CHECKING:
    from partita.model import Budget
    from partita.patterns import Pattern
    from partita.store import Request

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
O = TypeVar("O", bound="Operation[Any]")  # noqa: E741 - O for operation


Requests: TypeAlias = Generator["Request[Any] | Pause", Any, R]
"""What an operation does: it yields requests, is sent their responses, and returns its result."""

Procedure: TypeAlias = Generator["Operation[Any]", Any, R]
"""Several operations in order: a generator function with `yield from`, run by either kind of session."""


class Context(Struct, frozen=True):
    """What an operation may need from outside: time, randomness, the signer of cursors, and when to try again."""

    clock: Clock = system_clock
    random: random.Random = random.Random()  # noqa: S311 - shared on purpose, spreads retries, guards nothing
    cursors: CursorSigner = CursorSigner(b"")
    retry: RetryPolicy = RetryPolicy()


class Operation(Struct, Generic[R_co], frozen=True, kw_only=True):
    """A value that can be run, awaited, put into a transaction, explained, or checked against a budget.

    In a procedure, `result = yield from operation` runs it.
    """

    sends: ClassVar[tuple[type[Any], ...]] = ()
    """The kinds of request for single items; none where that depends on the value, as in a transaction."""

    pattern: Pattern | None = None

    def __iter__(self) -> Generator[Operation[Any], Any, R_co]:
        return (yield self)  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """What the operation is metered under: its access pattern, or else its kind."""
        return self.pattern.name if self.pattern is not None else self.default_name()

    @property
    def budget(self) -> Budget | None:
        """What it may consume: what its access pattern declares, or else what follows from its parts."""
        return self.pattern.budget if self.pattern is not None else self.default_budget()

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return type(self).__name__

    def default_budget(self) -> Budget | None:
        """The budget where no access pattern was declared."""
        return None

    def requests(self, context: Context) -> Requests[R_co]:
        """Yield requests, read the responses, return the result."""
        raise NotImplementedError


def named(operation: O, pattern: Pattern) -> O:
    """The same operation as part of an access pattern."""
    return replace(operation, pattern=pattern)
