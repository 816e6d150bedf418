"""The audit log has a line for every read that an operator makes or tries, without its arguments."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx
import pytest

from partita.http import Caller, Identity, Role
from partita.store import QueryTable
from partita.testing import FaultyStore

pytestmark = pytest.mark.req("X03")


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(record.getMessage()) for record in caplog.records if record.name == "partita.audit"]


async def read(client: httpx.AsyncClient, pattern: str, service: str = "todo", **arguments: str) -> httpx.Response:
    wanted = {"service": service, "pattern": pattern, "arguments": arguments}
    return await client.post("/console/api/attempts", json=wanted, headers={"X-Request-Id": "r-1"})


async def test_a_read_is_one_line(client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture) -> None:
    assert (await read(client, "tasks_of_user", user_id="demo-secret")).status_code == 200
    assert lines(caplog) == [
        {
            "event": "console_read",
            "user": "ada",
            "service": "todo",
            "pattern": "tasks_of_user",
            "request_id": "r-1",
            "outcome": "ok",
        }
    ]
    assert "demo-secret" not in caplog.text


async def test_it_is_shown_where_nobody_has_configured_logging(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    await read(client, "tasks_of_user", user_id="demo")
    (record,) = (record for record in caplog.records if record.name == "partita.audit")
    assert logging.lastResort is not None
    assert record.levelno >= logging.lastResort.level


async def test_what_was_refused_or_failed_is_a_line_too(
    client: httpx.AsyncClient,
    store: FaultyStore,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def instead_of_sleeping(seconds: float) -> None:
        """Retry immediately."""

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    await read(client, "create_task", task="{}")
    await read(client, "unheard_of")
    await read(client, "tasks_of_user")
    store.unavailable(100, on=QueryTable)
    await read(client, "tasks_of_user", user_id="demo")
    assert [line["outcome"] for line in lines(caplog)] == [
        "closed",
        "not_found",
        "invalid_request",
        "store_unavailable",
    ]


async def test_nobody_writes_lines_of_their_own(
    client: httpx.AsyncClient, identity: Identity, caplog: pytest.LogCaptureFixture
) -> None:
    operator = identity.token(Caller("ada\n{}", Role.OPERATOR))
    client.headers["Authorization"] = f"Bearer {operator}"
    await read(client, "x" * 100_000, service="todo\r\n{}")
    (line,) = lines(caplog)
    assert (line["user"], line["service"], len(line["pattern"])) == ("ada\n{}", "todo\r\n{}", 100)
    (record,) = (record for record in caplog.records if record.name == "partita.audit")
    assert len(record.getMessage().splitlines()) == 1


async def test_who_is_no_operator_reads_nothing_and_is_not_logged(
    client: httpx.AsyncClient, identity: Identity, caplog: pytest.LogCaptureFixture
) -> None:
    client.headers["Authorization"] = f"Bearer {identity.token(Caller('bob'))}"
    assert (await read(client, "tasks_of_user", user_id="demo")).status_code == 403
    assert lines(caplog) == []
