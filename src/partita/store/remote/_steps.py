"""What the remote store's procedures ask of the outside; a driver answers with blocking calls or with `await`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from partita.store.remote._transport import HttpCall

R = TypeVar("R")


class Pause(Struct, frozen=True):
    """Wait."""

    seconds: float


class LoadCredentials(Struct, frozen=True):
    """Load the credentials, which may take a while."""


Step: TypeAlias = HttpCall | Pause | LoadCredentials

Steps: TypeAlias = Generator[Step, Any, R]
"""A procedure without input or output of its own: it yields steps, is sent their results, and returns an `R`."""
