"""A toy service behind the real app, and a client that calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from tests.http.toy import TOY

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.http import AppState, Caller, Identity
from partita.testing import FakeClock


@pytest.fixture
def identity() -> Identity:
    return Identity(b"k" * 32)


@pytest.fixture
def session(partita_store: EmbeddedStore, fake_clock: FakeClock) -> AsyncSession:
    return AsyncSession(partita_store, clock=fake_clock, secret=b"fake")


@pytest.fixture
async def app(session: AsyncSession, identity: Identity) -> FastAPI:
    await session.create_tables(TOY.tables)
    return build_app([TOY], AppState(session, identity), max_body_bytes=1_000)


@pytest.fixture
async def client(app: FastAPI, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        yield client
