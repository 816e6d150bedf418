"""Options and fixtures that several suites share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from tests.referee import Referee, ministack

# The same examples in every run, and as much time for each as a busy machine needs.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store",
        action="append",
        choices=("embedded", "ministack"),
        help="the stores that the contract suite runs on (may be repeated; default: embedded)",
    )


@pytest.fixture(scope="session")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    """A second engine, independent of ours, started once."""
    with ministack(tmp_path_factory.mktemp("ministack")) as endpoint:
        referee = Referee(endpoint)
        yield referee
        referee.close()
