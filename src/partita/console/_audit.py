"""The audit log of the console: one line for each attempt by an operator to read data."""

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
"""Names are truncated to this length; no access pattern has a longer one."""


@contextmanager
def audited(caller: Caller, wanted: Attempt, request_id: str) -> Iterator[None]:
    """Log who reads what in the block, and the outcome. Arguments are omitted, because they may be secrets."""
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
        # Warnings are shown even if logging is not configured. In JSON, no value can begin a new line.
        logger.warning(msgspec.json.encode(line).decode())
