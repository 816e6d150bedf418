"""What the remote store's procedures ask of the outside; a driver answers with blocking calls or with `await`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from partita._aws._transport import HttpCall
from partita.runtime import Pause

R = TypeVar("R")


class LoadCredentials(Struct, frozen=True):
    """Load the credentials, which may take a while."""


Step: TypeAlias = HttpCall | Pause | LoadCredentials

Steps: TypeAlias = Generator[Step, Any, R]
"""A procedure without input or output of its own: it yields steps, is sent their results, and returns an `R`."""
