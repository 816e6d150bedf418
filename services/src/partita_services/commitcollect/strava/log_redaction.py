"""Redaction of secrets in logs, because httpx logs the address of every request.

Some requests to Strava have the application's secret in the query, and the address of the webhook, which the simulator
calls, is itself a secret.
"""

from __future__ import annotations

import logging
from typing import Final

import httpx

_WEBHOOK: Final = "/webhooks/strava/"


class _WithoutSecrets(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_bare(value) for value in record.args)
        return True


_WITHOUT_SECRETS: Final = _WithoutSecrets()


def redact_logs() -> None:
    """Make httpx log addresses without their query and without the webhook's secret end. This is idempotent."""
    logging.getLogger("httpx").addFilter(_WITHOUT_SECRETS)


def _bare(value: object) -> object:
    if not isinstance(value, httpx.URL):
        return value
    path, webhook, _ = value.path.partition(_WEBHOOK)
    return value.copy_with(query=None, path=path + webhook)
