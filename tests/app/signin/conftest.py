"""Fixtures for sign-in: an identity provider, and clients that send requests as a page in a browser does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager

import httpx
import pytest
from tests.app.signin.provider import Provider
from tests.http.toy import TOY

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.app.signin import SignIn
from partita.http import AppState, Identity, Verifier

OWN = "http://127.0.0.1:8321"
Browser = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def identity() -> Identity:
    return Identity(b"k" * 32)


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.close()


@pytest.fixture
def browser(partita_store: EmbeddedStore, identity: Identity) -> Browser:
    """A function that returns a client; by default it sends requests as a page of this server does."""

    def browser(
        sign_in: SignIn, verifier: Verifier | None = None, *, url: str = OWN, client: str = "127.0.0.1"
    ) -> httpx.AsyncClient:
        app = build_app([TOY], AppState(AsyncSession(partita_store), verifier or identity), sign_in=sign_in)
        transport = httpx.ASGITransport(app, client=(client, 50_000))
        return httpx.AsyncClient(transport=transport, base_url=url, headers={"Origin": url})

    return browser
