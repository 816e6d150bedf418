"""The audit log of the console: one line for each attempt of an operator to read data."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from partita.console._attempt import Attempt
from partita.errors import PartitaError
from partita.http import Caller, HttpProblem

logger: Final = logging.getLogger("partita.audit")

MAX_NAME: Final = 100
"""Longer names are of no access pattern, and are cut off."""


@contextmanager
def audited(caller: Caller, wanted: Attempt, request_id: str) -> Iterator[None]:
    """Log who reads what in the block, and what becomes of it. Arguments are left out: they may be secrets."""
    outcome = "failed"
    try:
        yield
        outcome = "ok"
    except HttpProblem as problem:
        outcome = problem.code
        raise
    except PartitaError as error:
        outcome = error.code
        raise
    finally:
        line = {
            "event": "console_read",
            "user": caller.user_id,
            "service": wanted.service[:MAX_NAME],
            "pattern": wanted.pattern[:MAX_NAME],
            "request_id": request_id,
            "outcome": outcome,
        }
        # A warning is shown where nobody has configured logging. As JSON, nothing in it can begin a new line.
        logger.warning(msgspec.json.encode(line).decode())
