"""The documentation page of the service: its routes, patterns, budgets, reasons, costs and verifying script."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.services.events.acting import applied, attempt, opened, users
from tests.services.events.draws.drawing import CHANGES, as_json, drawn, lottery
from tests.services.routes import routes_of

from partita import Session
from partita.queue import SentMessage
from partita_services.events.http import ROUTER
from partita_services.events.model import TABLE
from partita_services.events.queueing.decisions import decide
from partita_services.events.queueing.model import SentBatch, note_sent
from partita_services.events.terms import Reason
from partita_services.events.transitions import Arrival

ROUTES = routes_of(ROUTER)

PAGE = (Path(__file__).parents[3] / "docs/services/events.md").read_text(encoding="utf-8")
(SCRIPT,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.req("E11")
def test_every_route_is_on_the_page() -> None:
    assert [route for route in ROUTES if f"`{route}`" not in PAGE] == []


def test_every_pattern_is_on_the_page_with_its_budget() -> None:
    documented = re.findall(r"^\| `(\w+)` \| .* \| ([\d.]+ [RW]CU|none) \|$", PAGE, re.MULTILINE)
    assert sorted(documented) == sorted((name, str(p.budget or "none")) for name, p in TABLE.patterns.items())


def test_every_reason_is_on_the_page() -> None:
    assert [reason for reason in Reason if f"`{reason}`" not in PAGE] == []


async def test_the_first_example_creates_an_event_that_accepts_requests(api: httpx.AsyncClient) -> None:
    (body,) = re.findall(r"-d '(\{.*?\})'", PAGE, re.DOTALL)
    created = await api.post("/events", content=body, headers={"Content-Type": "application/json"})
    applied = await api.post(f"/events/{created.json()['eventId']}/requests")
    assert (created.status_code, applied.status_code) == (201, 202)


@pytest.mark.req("E04")
@pytest.mark.parametrize("keeps_log", [False, True])
def test_a_request_costs_what_the_page_says(db: Session, *, keeps_log: bool) -> None:
    event = opened(db, capacity=10, keeps_log=keeps_log)
    with db.meter.watch() as seen:
        requests = applied(db, event, *users(10))
        accepted = SentMessage("1", 1, db.context.clock() + 1)
        db.run(note_sent(SentBatch(batch_id="one", queued_at=event.opens_at, ttl=1)))
        arrivals = [Arrival(request.request_id, request.user_id, accepted.at) for request in requests]
        db.run(decide(event, arrivals, attempt(event.closes_at)))
    written = {run.name: run.write for run in seen if run.write}
    each = {name: sum(run.write for run in seen if run.name == name) / 10 for name in written}
    said = " ".join(PAGE.split())
    assert (
        "accepted 6 WCU, decided 6, and its part of the 2 for the seats and of the 1 for its batch; 12 WCU and a little"
        in said
    )
    assert "A log adds 8." in said
    assert each == {
        "accept": 6 + (2 if keeps_log else 0),
        "note_sent": 1 / 10,
        "decide": 6 + 2 / 10 + (6 if keeps_log else 0),
    }


def run_script(tmp_path: Path, draw: dict[str, object], *more: str) -> tuple[int, str]:
    (tmp_path / "verify.py").write_text(SCRIPT)
    (tmp_path / "draw.json").write_text(json.dumps(draw))
    command = [sys.executable, "-I", "verify.py", "draw.json", *more]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.req("E05")
def test_the_script_is_short_and_needs_nothing_but_python() -> None:
    assert len(SCRIPT.splitlines()) <= 30
    assert re.findall(r"^(?:import|from) (.*)$", SCRIPT, re.MULTILINE) == ["hashlib, hmac, json, sys"]


@pytest.mark.req("E05")
def test_the_script_verifies_a_draw_and_detects_every_change(db: Session, tmp_path: Path) -> None:
    event = lottery(db, 2, 6)
    draw = as_json(drawn(db, event))
    assert event.commitment is not None
    assert run_script(tmp_path, draw, event.commitment) == (0, "2 of 6 won, as the seed draws them\n")
    for change, changed in CHANGES.items():
        code, output = run_script(tmp_path, changed(draw), event.commitment)
        assert (code, "AssertionError" in output) == (1, True), change
