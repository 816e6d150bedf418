"""Fixtures that run services in roles with policies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.deploy.policed import ARNS, PolicedStore
from tests.deploy.running import Site

from partita import EmbeddedStore, Session
from partita.deploy import RoleName, needs, policy
from partita.service import Service
from partita.testing import FakeClock

Police: TypeAlias = Callable[..., PolicedStore]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def site(tmp_path: Path, fake_clock: FakeClock) -> Site:
    return Site(tmp_path, fake_clock)


@pytest.fixture
def police(partita_store: EmbeddedStore) -> Police:
    """A function that returns the store as roles of a service see it."""

    def policed(service: Service, *roles: RoleName, tags: dict[str, str] | None = None) -> PolicedStore:
        Session(partita_store).create_tables(service.tables)
        allowed = [need for role in roles for need in needs(service, role)]
        return PolicedStore(partita_store, policy(allowed, ARNS), tags=tags)

    return policed
