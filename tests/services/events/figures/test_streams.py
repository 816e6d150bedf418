"""Streams of figures over HTTP: a stream ends with its token, and all streams of an event share the reads."""

from __future__ import annotations

import asyncio
import gc
from datetime import timedelta

import httpx
import pytest
from tests.services.events.acting import opened
from tests.services.news import state_of

from partita import Session
from partita.http import Caller, Identity, Role, TokenKey, TokenPolicy
from partita.service import OpenProjection
from partita.store import GetItem
from partita.testing import FakeClock, FaultyStore
from partita_services.events.figures import live
from partita_services.events.figures.http import _watched

pytestmark = pytest.mark.req("E09", "X03")

ANN = Caller("ann")


class Policy:
    """A token policy that a test can change."""

    def __init__(self) -> None:
        self.now = TokenPolicy((TokenKey.of(b"k" * 32),))

    def revoke(self, token_id: str) -> None:
        self.now = TokenPolicy(self.now.keys, frozenset({token_id}))


@pytest.fixture
def policy() -> Policy:
    return Policy()


@pytest.fixture
def identity(policy: Policy, fake_clock: FakeClock) -> Identity:
    return Identity(lambda: policy.now, fake_clock)


@pytest.fixture
async def stream(api: httpx.AsyncClient, db: Session, projection: OpenProjection, identity: Identity) -> str:
    """The path of a stream of an event's figures."""
    event = opened(db, 1)
    projection.consumer.catch_up()
    return f"/events/{event.event_id}/figures/stream"


async def test_a_stream_ends_when_its_token_expires(
    api: httpx.AsyncClient, stream: str, fake_clock: FakeClock, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    async def instead_of_sleeping(seconds: float) -> None:
        nonlocal looks
        looks += 1
        fake_clock.advance(seconds)

    token = identity.token(ANN, timedelta(seconds=10))
    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    response = await api.get(stream, headers={"Authorization": f"Bearer {token}"})
    assert (response.status_code, looks) == (200, 10 / live.EVERY_SECONDS)
    again = await api.get(stream, headers={"Authorization": f"Bearer {token}"})
    assert (again.status_code, again.json()["detail"]) == (401, "The token has expired.")


@pytest.mark.parametrize("of", ["figures", "request"])
async def test_a_stream_ends_when_its_token_is_revoked(
    of: str,
    api: httpx.AsyncClient,
    stream: str,
    identity: Identity,
    policy: Policy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = identity.token(ANN)
    headers = {"Authorization": f"Bearer {token}"}
    if of == "request":
        applied = await api.post(stream.replace("figures/stream", "requests"), headers=headers)
        stream = f"/requests/{applied.json()['requestId']}/stream"
    looks = 0

    async def instead_of_sleeping(seconds: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            policy.revoke(identity.claims(token)["jti"])

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    response = await api.get(stream, headers=headers)
    assert (response.status_code, response.text.count("data:"), looks) == (200, 1, 3)


async def test_all_who_watch_an_event_share_what_is_read(
    api: httpx.AsyncClient,
    stream: str,
    store: FaultyStore,
    fake_clock: FakeClock,
    identity: Identity,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watchers, seconds, real_sleep, state = 10, 5.0, asyncio.sleep, state_of(api)
    began = fake_clock()
    headers = {"Authorization": f"Bearer {identity.token(Caller('ada', Role.OPERATOR))}"}
    store.requests.clear()

    async def instead_of_sleeping(pause: float) -> None:
        fake_clock.advance(pause / watchers)  # all watchers sleep at the same time
        if fake_clock() - began >= seconds:
            state.stopping.set()
        await real_sleep(0)

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    responses = await asyncio.gather(*(api.get(stream, headers=headers) for _ in range(watchers)))
    assert [response.text.count("data:") for response in responses] == [1] * watchers
    reads = [sent for sent in store.requests if isinstance(sent, GetItem)]
    looks = len(reads) / 2  # each look reads the event and its seats
    assert looks <= seconds / live.SHARED_SECONDS + 1


async def test_an_event_that_nobody_watches_is_forgotten(
    api: httpx.AsyncClient, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_of(api)

    async def instead_of_sleeping(seconds: float) -> None:
        assert len(state.singleton(_watched)) == 1
        state.stopping.set()

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    assert (await api.get(stream)).status_code == 200
    gc.collect()
    assert len(state.singleton(_watched)) == 0
