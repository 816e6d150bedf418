"""Every response has a request id, and says how much capacity it consumed."""

from __future__ import annotations

import httpx
import pytest

from partita import Consumption
from partita.app._capacity import capacity_text

pytestmark = pytest.mark.req("X07")


async def test_the_capacity_is_named_by_pattern(client: httpx.AsyncClient) -> None:
    response = await client.put("/toy/api/notes/n1")
    assert response.status_code == 200
    assert response.headers["X-Consumed-Capacity"] == "write_note;rcu=0;wcu=1, note_by_id;rcu=1;wcu=0"


async def test_nothing_consumed_is_said_too(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).headers["X-Consumed-Capacity"] == "none"


async def test_requests_are_metered_apart(client: httpx.AsyncClient) -> None:
    for note_id in ("n1", "n2"):
        response = await client.put(f"/toy/api/notes/{note_id}")
        assert response.headers["X-Consumed-Capacity"] == "write_note;rcu=0;wcu=1, note_by_id;rcu=1;wcu=0"


def test_runs_of_one_pattern_are_added_up() -> None:
    runs = [
        Consumption("tasks", ("QueryTable",), 0.5, 0.0),
        Consumption("save", ("PutItem",), 0.0, 6.0),
        Consumption("tasks", ("QueryTable",), 2.0, 0.0),
    ]
    assert capacity_text(runs) == "tasks;rcu=2.5;wcu=0, save;rcu=0;wcu=6"


async def test_a_well_formed_request_id_is_kept(client: httpx.AsyncClient) -> None:
    response = await client.get("/healthz", headers={"X-Request-Id": "trace-1.2_3"})
    assert response.headers["X-Request-Id"] == "trace-1.2_3"


@pytest.mark.parametrize("given", [None, "", "x" * 65, "a b", "a;b"])
async def test_any_other_is_replaced(given: str | None, client: httpx.AsyncClient) -> None:
    headers = {} if given is None else {"X-Request-Id": given}
    made = {(await client.get("/healthz", headers=headers)).headers["X-Request-Id"] for _ in range(2)}
    assert len(made) == 2
    assert given not in made
