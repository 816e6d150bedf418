"""Options and fixtures that several suites share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

import botocore.session
import pytest
from hypothesis import settings
from tests.referee import Referee, ministack

from partita.store.remote import Credentials, RemoteStore

pytest_plugins = ("tests.collecting", "tests.ending", "tests.workers")

# Tests use one process, except those of several processes in tests/cli/processes.
os.environ.setdefault("PARTITA_PROCESSES", "1")

# All clients of AWS share what botocore loads, which takes a tenth of a second for each client otherwise.
botocore.session.create_loader = cache(botocore.session.create_loader)

# The same examples in every run, without a deadline, because the machine may be busy.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store",
        action="append",
        choices=("embedded", "ministack", "named", "remote", "wire"),
        help="the stores that the suites of stores and services run on (may be repeated): embedded; "
        "named, the same with a prefix before the names of tables; ministack, "
        "asked through boto3; remote, our own client on ministack; wire, our own client on our own server",
    )
    parser.addoption(
        "--unsteady",
        type=int,
        metavar="SEED",
        help="the browser tests on a slow processor, with responses that come late and in another order",
    )


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def ministack_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ministack, an engine independent of ours, which is started once."""
    with ministack(tmp_path_factory.mktemp("ministack")) as url:
        yield url


@pytest.fixture(scope="session")
def referee(ministack_url: str) -> Iterator[Referee]:
    """Ministack, called through boto3."""
    referee = Referee(ministack_url)
    yield referee
    referee.close()


@pytest.fixture(scope="session")
def remote(ministack_url: str) -> Iterator[RemoteStore]:
    """Ministack, called through the remote store."""
    with RemoteStore(ministack_url, credentials=Credentials("test", "test")) as store:
        yield store
