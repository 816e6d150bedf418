"""Verifying a draw: anybody can do so, and every change is detected."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from tests.services.events.draws.drawing import CHANGES, as_json, drawn, lottery

from partita import Session
from partita.cli import main
from partita_services.events.draws.verify import hash_of, problems_of

pytestmark = pytest.mark.req("E05")


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_detected(db: Session, change: str) -> None:
    event = lottery(db, 2, 6)
    draw = as_json(drawn(db, event))
    assert problems_of(CHANGES[change](draw), event.commitment) != []


def test_an_entry_that_was_frozen_twice_is_detected(db: Session) -> None:
    draw = as_json(drawn(db, lottery(db, 2, 6)))
    winners = [draw["winners"][0], draw["winners"][0]]  # all hashes and orders are right, but one user has two chances
    twice = draw | {"winners": winners, "waitingList": [draw["winners"][1], *draw["waitingList"]]}
    twice["entriesHash"] = hash_of([*winners, *twice["waitingList"]])
    assert problems_of(twice) == ["An entry was drawn twice."]


def test_the_command_verifies(db: Session) -> None:
    event = lottery(db, 2, 6)
    draw = as_json(drawn(db, event))
    right = CliRunner().invoke(main, ["events", "verify-draw", "-"], input=json.dumps(draw))
    assert (right.exit_code, right.output) == (0, "The draw is correct: 2 won and 4 wait, as the seed draws them.\n")
    wrong = CliRunner().invoke(main, ["events", "verify-draw", "-"], input=json.dumps(CHANGES["another winner"](draw)))
    assert wrong.exit_code == 1
    assert "Error: The winners are not those that the seed draws." in wrong.output
    other = CliRunner().invoke(main, ["events", "verify-draw", "-", "--commitment", "00"], input=json.dumps(draw))
    assert "The commitment is not the one that was published." in other.output
    for nonsense in ("[]", "{", '{"seed": "xx"}'):
        result = CliRunner().invoke(main, ["events", "verify-draw", "-"], input=nonsense)
        assert (result.exit_code, "The file is not a draw" in result.output) == (1, True)
