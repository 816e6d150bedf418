"""A fake of CommitCollect's API for pages: a user is signed in, and has as much data as a test wants."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import BrowserContext, Page, Route

DAY: Final = "2026-05-01"
CONNECTION: Final = {"athlete_name": "Robin Rider", "state": "connected", "connected_at": f"{DAY}T08:00:00Z"}


def workout(number: int) -> dict[str, Any]:
    """A workout; a higher number means an older one."""
    figures = {"distance": 5000.0, "moving_time": 1500, "elevation_gain": 10.0, "counts": True, "why_not": None}
    return {"activity_id": f"w{number}", "name": f"Run {number}", "sport_type": "Run", "started_local": DAY} | figures


def event(number: int) -> dict[str, Any]:
    """An event of the audit trail; a higher number means an older one."""
    details = {"model": "Lighthouse", "part": f"Stone {number}", "milestone_id": "m"}
    when = {"occurred_at": 1_780_000_000 - number, "request_id": f"r{number}", "sequence": 0, "correlation_id": "c"}
    return {"event_type": "part_awarded", "details": details} | when


def milestone(number: int, status: str = "ACTIVE", title: str = "") -> dict[str, Any]:
    """A milestone with the lighthouse as its model."""
    progress = {"value": 1000, "fraction": 0.01, "truncated": False, "inspected": 1, "not_counted": {}}
    parts = {"parts_total": 10, "parts_earned": 0, "progress": progress, "version": 1}
    window = {"starts_on": DAY, "ends_on": "2026-12-31", "metric": "distance", "target": 100_000, "sport_types": []}
    named = {"title": title or f"Milestone {number}", "model_id": "lighthouse", "model_name": "Lighthouse"}
    return {"milestone_id": f"m{number:05}", "status": status, "created_at": DAY, "completed_at": None} | (
        named | window | parts
    )


def tell(page: Page) -> None:
    """Send the page a notice of a change, as another tab does that reads the stream."""
    page.evaluate("""() => {
        const channel = new BroadcastChannel("partita u1 /commitcollect/api/stream");
        channel.postMessage({ event: "change", data: { what: "workouts" } });
        channel.close();
    }""")


class Pretended:
    """Serves the fake API from its attributes. Requests to a path in `held` get no response until it is released."""

    def __init__(self, context: BrowserContext, *, workouts: int = 3, events: int = 3, past: int = 0) -> None:
        self.me = {"user_id": "u1", "name": "Robin", "created_at": DAY, "strava_url": None, "connection": CONNECTION}
        self.workouts = [workout(number) for number in range(workouts)]
        self.events = [event(number) for number in range(events)]
        self.milestones = [milestone(number, "CANCELLED") for number in range(past)]
        self.keys: list[str] = []
        self.status: dict[str, int] = {}
        self.lost = 0
        self.held: dict[str, list[Route]] = {}
        self._streams: list[Route] = []
        context.route("**/commitcollect/api/**", self._answer)
        context.route("**/commitcollect/auth/logout", lambda route: route.fulfill(status=204))

    def release(self, path: str, **response: Any) -> None:
        """Respond to held requests: with `response` if it is given, or else as to new requests."""
        for route in self.held.pop(path):
            route.fulfill(**response) if response else self._answer(route)

    def _answer(self, route: Route) -> None:
        path = urlsplit(route.request.url).path.rpartition("/api/")[2]
        if path.startswith("models"):
            route.continue_()
        elif path == "stream":
            self._listen(route)
        elif path in self.held:
            self.held[path].append(route)
        elif path in self.status:
            problem = {"code": "unauthenticated" if self.status[path] == 401 else "trouble", "detail": "You are out."}
            route.fulfill(status=self.status[path], json=problem)
        elif route.request.method == "POST":
            self._create(route)
        elif path == "me":
            route.fulfill(json=self.me)
        else:
            lists = {"workouts": self.workouts, "audit": self.events, "milestones": self.milestones, "awards": []}
            self._list(route, lists[path])

    def _listen(self, route: Route) -> None:
        """End the first stream after one event, and never respond to later requests: only `tell` reports changes."""
        self._streams.append(route)
        if len(self._streams) == 1:
            route.fulfill(content_type="text/event-stream", body="event: ready\nid: 1\ndata: {}\n\n")

    def _list(self, route: Route, items: list[dict[str, Any]]) -> None:
        wanted = parse_qs(urlsplit(route.request.url).query)
        start, limit = int(wanted.get("cursor", ["0"])[0]), int(wanted["limit"][0])
        more = str(start + limit) if start + limit < len(items) else None
        route.fulfill(json={"items": items[start : start + limit], "next_cursor": more})

    def _create(self, route: Route) -> None:
        key = route.request.headers["idempotency-key"]
        if key not in self.keys:
            self.keys.append(key)
            title = (route.request.post_data_json or {})["title"]
            self.milestones.insert(0, milestone(90_000 + len(self.keys), title=title))
        if self.lost:
            self.lost -= 1
            route.abort("connectionreset")
        else:
            route.fulfill(status=201, json=self.milestones[0])
