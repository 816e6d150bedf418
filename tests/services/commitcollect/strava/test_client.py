"""The client of Strava, tested against the simulator over HTTP: every request, and every possible outcome."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx
import msgspec
import pytest
from tests.services.commitcollect.simulated import ALEX, APPLICATION, serving_simulator, simulated

from partita.testing import FakeClock
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.strava.client import StravaClient
from partita_services.commitcollect.strava.interface import (
    Deauthorize,
    Exchange,
    Grant,
    LimitReached,
    ListActivities,
    ReadActivity,
    ReadAthlete,
    Refresh,
    StravaUnavailable,
    Subscribe,
    Unauthorized,
)
from partita_services.commitcollect.strava.settings import Settings

pytestmark = pytest.mark.req("C08")

DAY = 86_400


class Webhook:
    """A webhook that confirms a subscription with the right token, and records the events that it receives."""

    def __init__(self) -> None:
        self.events: list[dict[str, object]] = []
        webhook = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = {name: value for name, (value,) in parse_qs(urlsplit(self.path).query).items()}
                self.send_response(200 if asked["hub.verify_token"] == "verify-me" else 403)
                self.end_headers()
                self.wfile.write(msgspec.json.encode({"hub.challenge": asked["hub.challenge"]}))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                webhook.events.append(msgspec.json.decode(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Suppress the log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    webhook = Webhook()
    thread = threading.Thread(target=webhook.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield webhook
    webhook.server.shutdown()
    webhook.server.server_close()
    thread.join()


@pytest.fixture
def strava(fake_clock: FakeClock) -> SimulatedStrava:
    return simulated(fake_clock)


@pytest.fixture
def client(strava: SimulatedStrava, fake_clock: FakeClock) -> Iterator[StravaClient]:
    with serving_simulator(strava, delivers=False) as address:
        client = StravaClient(
            Settings(
                public_url="http://127.0.0.1",
                strava_url=address,
                client_id=APPLICATION.client_id,
                client_secret=APPLICATION.client_secret,
                verify_token="verify-me",
                token_key=b"k" * 32,
            ),
            fake_clock,
        )
        yield client
        client.close()


@pytest.fixture
def grant(strava: SimulatedStrava, client: StravaClient) -> Grant:
    return client.execute(Exchange(strava.oauth.approve(ALEX, ("read", "activity:read")).code))


def test_a_code_gives_tokens_and_the_athlete(grant: Grant, client: StravaClient, fake_clock: FakeClock) -> None:
    assert (grant.athlete.id, grant.athlete.name, grant.expires_at) == (ALEX, "Alex Runner", int(fake_clock()) + 21_600)
    assert client.execute(ReadAthlete(grant.access_token)).id == ALEX
    with pytest.raises(Unauthorized):
        client.execute(Exchange("used or invented"))


def test_a_refresh_token_gives_new_tokens_once(grant: Grant, client: StravaClient) -> None:
    renewed = client.execute(Refresh(grant.refresh_token))
    assert client.execute(ReadAthlete(renewed.access_token)).id == ALEX
    for request in (Refresh(grant.refresh_token), ReadAthlete(grant.access_token)):
        with pytest.raises(Unauthorized):
            client.execute(request)


def test_giving_the_grant_up_ends_it(grant: Grant, client: StravaClient) -> None:
    client.execute(Deauthorize(grant.access_token))
    with pytest.raises(Unauthorized):
        client.execute(ReadAthlete(grant.access_token))


def test_an_activity_is_read_as_it_is(grant: Grant, client: StravaClient, strava: SimulatedStrava) -> None:
    made = strava.train(ALEX, "Run", started_at=1_780_000_000, distance=5000.0, flagged=True)
    read = client.execute(ReadActivity(grant.access_token, str(made.id)))
    assert read is not None
    assert (read.id, read.athlete.id, read.sport_type, read.distance) == (made.id, ALEX, "Run", 5000.0)
    assert (read.manual, read.flagged, read.private) == (False, True, False)
    assert read.start_date == datetime.fromtimestamp(1_780_000_000, UTC)
    assert read.start_date_local.isoformat() == "2026-05-29T06:26:40+00:00"
    strava.delete(made.id)
    assert client.execute(ReadActivity(grant.access_token, str(made.id))) is None


def test_activities_are_listed_from_an_instant_on(grant: Grant, client: StravaClient, strava: SimulatedStrava) -> None:
    shown = [one for one in strava.world.activities.values() if one.athlete_id == ALEX and not one.private]
    own = sorted(one.started_at for one in shown)
    pages = [client.execute(ListActivities(grant.access_token, own[0], page, 10)) for page in (1, 2, 3)]
    assert [activity.start_date.timestamp() for page in pages for activity in page] == own[1:]
    assert [len(page) for page in pages] == [10, 8, 0]


@pytest.mark.req("C06")
def test_an_exhausted_limit_says_when_to_go_on(
    grant: Grant, client: StravaClient, strava: SimulatedStrava, fake_clock: FakeClock
) -> None:
    strava.limits.exhaust()
    with pytest.raises(LimitReached) as reached:
        client.execute(ReadAthlete(grant.access_token))
    assert reached.value.open_at.timestamp() == (fake_clock() // 900 + 1) * 900
    fake_clock.advance(900)
    assert client.execute(ReadAthlete(grant.access_token)).id == ALEX


@pytest.mark.req("C06")
@pytest.mark.parametrize(
    ("name", "usage", "waits"),
    [
        ("X-RateLimit", "199,1999", 0),
        ("X-RateLimit", "200,1", 900),
        ("X-RateLimit", "1,2000", DAY),
        ("X-ReadRateLimit", "200,1", 900),
        ("X-ReadRateLimit", "201,2001", DAY),
        ("X-ReadRateLimit", "many", 0),
    ],
)
def test_a_limit_that_is_used_up_stops_reads_before_strava_refuses_one(
    name: str, usage: str, waits: int, fake_clock: FakeClock
) -> None:
    headers = [{f"{name}-Limit": "200,2000", f"{name}-Usage": usage}]
    calls: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        return httpx.Response(200, headers=headers.pop() if headers else {}, json={"id": ALEX, "firstname": "Alex"})

    settings = Settings("http://127.0.0.1", "http://strava.test", "1", "secret", "verify-me", b"k" * 32)
    with httpx.Client(transport=httpx.MockTransport(respond)) as http:
        client = StravaClient(settings, fake_clock, http)
        client.execute(ReadAthlete("token"))
        if waits:
            with pytest.raises(LimitReached) as reached:
                client.execute(ReadAthlete("token"))
            assert reached.value.open_at.timestamp() == (fake_clock() // waits + 1) * waits
            client.execute(Deauthorize("token"))  # not a read
            fake_clock.set(reached.value.open_at)
        client.execute(ReadAthlete("token"))
    assert calls.count("/api/v3/athlete") == 2


@pytest.mark.req("C03")
def test_a_subscription_is_made_once_and_moves_with_the_address(
    client: StravaClient, strava: SimulatedStrava, webhook: Webhook
) -> None:
    first = client.execute(Subscribe(f"{webhook.url}/one"))
    assert client.execute(Subscribe(f"{webhook.url}/one")) == first
    client.execute(Subscribe(f"{webhook.url}/two"))
    assert strava.world.subscription is not None
    assert strava.world.subscription.callback_url == f"{webhook.url}/two"
    with pytest.raises(StravaUnavailable):
        client.execute(Subscribe("http://127.0.0.1:1/nobody"))


@pytest.mark.req("C04")
async def test_events_arrive_at_the_webhook(strava: SimulatedStrava, webhook: Webhook) -> None:
    strava.oauth.exchange(strava.oauth.approve(ALEX, ("read", "activity:read")).code)
    strava.subscribe(webhook.url)
    activity = strava.train(ALEX)
    (outcome,) = await strava.webhook.deliver()
    assert outcome.status == 200
    assert [(event["object_id"], event["aspect_type"]) for event in webhook.events] == [(activity.id, "create")]
