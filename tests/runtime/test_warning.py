"""Warnings from code that rarely warns: the log record names the calling function."""

from __future__ import annotations

import logging

import pytest

from partita.runtime import warn


def test_a_warning_is_its_callers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="partita.trial"):
        warn("partita.trial", "%s of %d", "one", 2)
    (record,) = caplog.records
    assert (record.name, record.getMessage(), record.levelname) == ("partita.trial", "one of 2", "WARNING")
    assert record.funcName == "test_a_warning_is_its_callers"
