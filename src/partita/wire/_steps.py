"""An operation as a generator of requests to the store: written once, driven by a server or by a test."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from partita.store import DescribeTable, Json, Request, TableDescription
from partita.wire._parameters import Parameters

Steps: TypeAlias = Generator[Request[Any], Any, Json]
"""Yields requests, is sent their responses, and returns the body of the answer."""

Asking: TypeAlias = Generator[Request[Any], Any, TableDescription]

Operation: TypeAlias = Callable[[Parameters], Steps]


def described(table: str) -> Asking:
    """The table as the store describes it."""
    description: TableDescription = yield DescribeTable(table)
    return description
