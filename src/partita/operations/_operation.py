"""What every operation is: a frozen value with a result type, whose steps send requests and read answers."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita._clock import Clock, system_clock
from partita.operations._cursor import CursorSigner

if TYPE_CHECKING:
    from partita._cost import Budget
    from partita._patterns import Pattern
    from partita.store._requests import Request

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
O = TypeVar("O", bound="Operation[Any]")  # noqa: E741 - O for operation


class Pause(Struct, frozen=True):
    """A step that waits before the next request, as between two tries."""

    seconds: float


Steps: TypeAlias = Generator["Request[Any] | Pause", Any, R]
"""What an operation does: it yields requests, is sent their responses, and returns its result."""

Procedure: TypeAlias = Generator["Operation[Any]", Any, R]
"""Several operations in order: a generator function with `yield from`, run by either kind of session."""


class Context(Struct, frozen=True):
    """What steps may need from outside: time, chance, and the signer of cursors."""

    clock: Clock = system_clock
    random: random.Random = random.Random()  # noqa: S311 - shared on purpose, spreads retries, guards nothing
    cursors: CursorSigner = CursorSigner(b"")


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

    def steps(self, context: Context) -> Steps[R_co]:
        """Send requests, read the answers, return the result."""
        raise NotImplementedError


def named(operation: O, pattern: Pattern) -> O:
    """The same operation as part of an access pattern."""
    return replace(operation, pattern=pattern)
