"""The service with the simulator: whatever athletes do and the network loses, the stored workouts become correct."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from msgspec.structs import replace
from tests.services.commitcollect.simulated import ALEX, APPLICATION, serving_simulator, simulated
from tests.services.commitcollect.world import SETTINGS, World, queued_world

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity
from partita.queue import GetStats
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.simulator.world import Activity, Chaos, Code, Event
from partita_services.commitcollect.strava.client import StravaClient

SCOPES = ("read", "activity:read")


class Both(NamedTuple):
    """The service, and the simulated Strava that it uses."""

    service: World
    strava: SimulatedStrava

    def connect(self) -> None:
        """Log Alex in."""
        code = Code(f"code-{ALEX}", ALEX, SCOPES, self.service.clock() + 60)
        self.strava.world.codes[code.code] = code
        self.service.log_in(ALEX)

    async def pass_time(self, seconds: float) -> None:
        """Deliver events, run jobs, and advance the clock."""
        await self.strava.webhook.deliver()
        self.service.work()
        self.service.clock.advance(seconds)

    async def settle(self) -> None:
        """Deliver events and run jobs until none is left."""
        for _ in range(400):
            await self.pass_time(10)
            stats = self.service.tools.queue.execute(GetStats())
            if self.strava.webhook.next_due is None and stats.waiting + stats.in_flight == 0:
                return
        raise AssertionError("it does not come to rest")

    def stored(self) -> dict[str, tuple[Any, ...]]:
        """Return the stored fields of each workout."""
        return {
            number: (one.name, one.sport_type, one.distance, one.moving_time, one.why_not)
            for number, one in self.service.workouts.items()
        }

    def true(self) -> dict[str, tuple[Any, ...]]:
        """Return the fields of each activity that Strava shows."""
        grant = self.strava.world.grants[ALEX]
        return {str(one.id): _fields(one) for one in self.strava._shown_to(grant)}

    @property
    def own(self) -> list[Activity]:
        return [one for one in self.strava.world.activities.values() if one.athlete_id == ALEX]


def _fields(one: Activity) -> tuple[Any, ...]:
    why_not = "manual" if one.manual else "flagged" if one.flagged else None
    return one.name, one.sport_type, one.distance, one.moving_time, why_not


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    """The service and the simulator. Alex is connected and has no activities; events go to the service's routes."""
    with queued_world() as service:
        session = AsyncSession(service.db.store, clock=service.clock, secret=b"fake")
        strava = simulated(service.clock)
        with serving_simulator(strava, delivers=False) as address:
            settings = replace(SETTINGS, strava_url=address, client_secret=APPLICATION.client_secret)
            client = StravaClient(settings, service.clock)
            service.tools = replace(service.tools, strava=client)
            site = build_app([SERVICE], AppState(session, Identity(b"k" * 32), {SERVICE.name: service.tools}))
            strava.webhook._post = _over(httpx.ASGITransport(site))
            strava.world.activities.clear()
            strava.subscribe(SETTINGS.webhook_url)
            pair = Both(service, strava)
            pair.connect()
            await pair.settle()
            yield pair
            client.close()


def _over(transport: httpx.AsyncBaseTransport) -> Callable[[str, Event], Awaitable[int]]:
    async def post(url: str, event: Event) -> int:
        async with httpx.AsyncClient(transport=transport) as client:
            headers = {"Content-Type": "application/json"}
            return (await client.post(url, content=msgspec.json.encode(event), headers=headers)).status_code

    return post


def live(both: Both, rng: random.Random) -> None:
    """Do one random thing at Strava, such as a change of an activity or a repetition of events."""
    actions: list[Callable[[], Any]] = [lambda: both.strava.train(ALEX)] * 3
    actions += [lambda: both.strava.send_again(5), lambda: both.strava.oauth.expire(ALEX), both.strava.limits.exhaust]
    if both.own:
        one = rng.choice(both.own)
        actions += [
            lambda: both.strava.delete(one.id),
            lambda: both.strava.change(one.id, name=f"Renamed {rng.random()}"),
            lambda: both.strava.change(one.id, distance=rng.randrange(1, 50) * 1000.0),
            lambda: both.strava.change(one.id, flagged=not one.flagged),
            lambda: both.strava.change(one.id, visibility="everyone" if one.private else "only_me"),
        ]
    rng.choice(actions)()


@pytest.mark.req("C04", "C05", "C06", "C08")
@pytest.mark.parametrize("seed", range(3))
async def test_what_is_stored_is_what_is_there(both: Both, seed: int) -> None:
    rng = random.Random(seed)
    both.strava.webhook.chaos = Chaos(duplicates=2, spread=60, failures=0.2)
    for _ in range(40):
        live(both, rng)
        if rng.random() < 0.4:
            await both.pass_time(rng.choice([0, 1, 7, 30]))
    both.strava.webhook.chaos = Chaos(duplicates=1, spread=60)
    both.strava.send_again(100)  # events that were lost in all three attempts are sent again
    await both.settle()
    assert both.stored() == both.true()


@pytest.mark.req("C07")
@pytest.mark.parametrize("seed", range(2))
async def test_reading_again_finds_what_no_event_said(both: Both, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(8):
        both.strava.train(ALEX)
    await both.settle()
    assert len(both.stored()) == 8
    both.strava.webhook.chaos = Chaos(failures=1)
    for _ in range(30):
        live(both, rng)
        await both.pass_time(rng.choice([0, 5]))
    await both.settle()
    assert both.stored() != both.true()
    both.connect()
    await both.settle()
    assert both.stored() == both.true()


@pytest.mark.req("C05")
async def test_who_takes_the_access_back_and_returns_has_what_is_there(both: Both) -> None:
    both.strava.webhook.chaos = Chaos(duplicates=2, spread=60)
    for _ in range(5):
        both.strava.train(ALEX)
    both.strava.deauthorize(ALEX)
    await both.settle()
    assert both.stored() == {}
    both.connect()
    both.strava.send_again(100)  # all old events, including that of the withdrawal
    await both.settle()
    assert both.stored() == both.true()
    assert len(both.stored()) == 5
