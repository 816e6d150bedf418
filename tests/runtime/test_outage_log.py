"""The log messages of an outage."""

from __future__ import annotations

import logging

import pytest

from partita.errors import StoreFull, StoreUnavailable
from partita.runtime import OutageLog
from partita.runtime._outage_log import OUTAGE_SECONDS


def test_an_outage_is_one_line_and_then_a_count(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    log = OutageLog(logging.getLogger("tested"), lambda: now[0])
    full, gone = StoreFull("no space is left"), StoreUnavailable("no response")
    for _ in range(1_000):
        log.report(full.code, "POST /tasks", full)
    log.report(gone.code, "GET /tasks", gone)
    log.report(gone.code, "GET /tasks", gone)
    now[0] = OUTAGE_SECONDS
    log.report(full.code, "PUT /tasks", full)
    log.report(gone.code, "PUT /tasks", gone)

    assert [record.getMessage() for record in caplog.records] == [
        f"POST /tasks failed: {full}",
        f"GET /tasks failed: {gone}",
        f"PUT /tasks failed: {full} So did 999 earlier requests.",
        f"PUT /tasks failed: {gone} So did 1 earlier request.",
    ]
    assert not any(record.exc_info for record in caplog.records)
    assert {record.levelno for record in caplog.records} == {logging.ERROR}
