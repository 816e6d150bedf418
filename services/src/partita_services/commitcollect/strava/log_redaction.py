"""Logs without secrets: httpx logs the address of every request, and Strava wants the application's secret in some."""

from __future__ import annotations

import logging
from typing import Final

import httpx


class _WithoutQuery(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_bare(value) for value in record.args)
        return True


_WITHOUT_QUERY: Final = _WithoutQuery()


def redact_logs() -> None:
    """Have httpx log addresses without their query. Calling it again changes nothing."""
    logging.getLogger("httpx").addFilter(_WITHOUT_QUERY)


def _bare(value: object) -> object:
    return value.copy_with(query=None) if isinstance(value, httpx.URL) else value
