"""`partita personal`."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Run

pytestmark = pytest.mark.req("X15")


def test_all_that_is_kept_of_a_user_is_printed(seeded: Run) -> None:
    file = json.loads(seeded("personal", "export", "todo", "--user", "demo").output)
    assert (file["service"], file["user_id"]) == ("todo", "demo")
    assert (len(file["data"]["tasks"]), file["data"]["profile"][0]["email"]) == (26, "demo@example.com")


def test_it_is_erased(seeded: Run) -> None:
    erased = seeded("personal", "erase", "todo", "--user", "demo", "--yes")
    assert erased.output.splitlines() == ["tasks: 26 erased.", "profile: 1 erased."]
    file = json.loads(seeded("personal", "export", "todo", "--user", "demo").output)
    assert file["data"] == {"tasks": [], "profile": []}


def test_it_asks_first(seeded: Run) -> None:
    asked = seeded("personal", "erase", "todo", "--user", "demo")
    assert (asked.exit_code, "cannot be undone" in asked.output) == (1, True)
    assert len(json.loads(seeded("personal", "export", "todo", "--user", "demo").output)["data"]["tasks"]) == 26


def test_a_service_without_personal_data_says_so(seeded: Run) -> None:
    refused = seeded("personal", "export", "countries", "--user", "demo")
    assert (refused.exit_code, "Service.personal" in refused.output) == (1, True)
