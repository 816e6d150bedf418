"""Locations of lakes: a folder, and buckets of two servers that speak the S3 protocol."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session as BotocoreSession
from tests.referee import ministack, moto

from partita.change.lake import FolderLocation, S3Location
from partita.store.remote import Credentials

KEYS = Credentials("test", "test")
NUMBERS = count()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in one worker, with one server of each kind and one import of what reads a lake."""
    for item in items:
        if item.nodeid.startswith("tests/change/lake/"):
            item.add_marker(pytest.mark.xdist_group("lake"))


@cache
def client_of(url: str) -> Any:
    """Return the client of a server; it is cached, because creating one takes a tenth of a second."""
    return BotocoreSession().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=KEYS.access_key,
        aws_secret_access_key=KEYS.secret_key,
    )


def bucket_at(url: str) -> S3Location:
    """Create a bucket on a server, and return a location in it."""
    name = f"lake-{next(NUMBERS)}"
    client_of(url).create_bucket(Bucket=name)
    return S3Location(name, "some/where", endpoint=url, credentials=KEYS)


@pytest.fixture(scope="session")
def moto_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with moto(tmp_path_factory.mktemp("moto")) as url:
        yield url


@pytest.fixture(scope="session")
def ministack_s3_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ministack(tmp_path_factory.mktemp("ministack"), "s3") as url:
        yield url


@pytest.fixture
def on_moto(moto_url: str) -> S3Location:
    """A location in a bucket of moto."""
    return bucket_at(moto_url)


@pytest.fixture
def on_ministack(ministack_s3_url: str) -> S3Location:
    """A location in a bucket of ministack."""
    return bucket_at(ministack_s3_url)


@pytest.fixture(params=("on_moto", "on_ministack"))
def bucket(request: pytest.FixtureRequest) -> S3Location:
    """A location in a bucket, on each server."""
    found: S3Location = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=("folder", "on_ministack"))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> FolderLocation | S3Location:
    """A location of each kind."""
    return FolderLocation(tmp_path / "lake") if request.param == "folder" else request.getfixturevalue(request.param)
