"""Small storms on real processes, which are killed and restarted in the middle, and on an emulator of AWS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.storm import Rig, rigged, storm
from click.testing import CliRunner
from tests.referee import ministack

from partita.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.req("E13", "E03"), pytest.mark.xdist_group("storm")]

SOUND = "Every invariant holds."


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A server and four workers for several storms, each of which has its own event."""
    with rigged(tmp_path_factory.mktemp("rig"), workers=4) as rig:
        yield rig


@pytest.mark.req("E07")
def test_nobody_is_lost_when_server_and_workers_are_killed(rig: Rig) -> None:
    status, printed = storm(rig, users=400, capacity=50, kills=1, connections=16)
    assert (status, SOUND in printed) == (0, True), printed


@pytest.mark.req("E07", "E14")
def test_freed_seats_go_to_the_earliest_who_waits_while_workers_are_killed(rig: Rig) -> None:
    status, printed = storm(rig, users=400, capacity=50, kills=1, cancellations=0.3, connections=16)
    assert (status, SOUND in printed) == (0, True), printed
    assert "cancelled   0" not in printed


@pytest.mark.req("E02", "X12")
def test_a_storm_on_dynamodb_and_sqs(tmp_path: Path) -> None:
    """This test has its own emulator, because other tests delete the tables of the shared one."""
    (tmp_path / "aws").mkdir()
    with ministack(tmp_path / "aws") as url, rigged(tmp_path, 2, ["--store", url, "--queue", url]) as rig:
        status, printed = storm(rig, users=60, capacity=20, connections=8)
    assert (status, SOUND in printed) == (0, True), printed


def test_a_storm_that_nobody_works_off_is_not_sound(tmp_path: Path) -> None:
    with rigged(tmp_path, workers=0) as rig:
        status, printed = storm(rig, users=5, capacity=2, connections=2, patience=1.0)
    assert (status, printed.splitlines()[-2:]) == (
        1,
        ["BROKEN: 0 won, and 2 should have.", "BROKEN: 5 have no response, no request or no decision."],
    )


@pytest.mark.parametrize("url", ["nonsense", "localhost:8321", "ftp://host", "http://", "http://host:port"])
def test_a_storm_needs_the_address_of_a_server(url: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["events", "storm", "--url", url, "--data", str(tmp_path)])
    assert (result.exit_code, "The URL must have the form http://HOST:PORT." in result.output) == (2, True)
