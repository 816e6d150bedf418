"""Every function on the page of the architecture is there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
HOPS = re.findall(r"^\| `([\w.]+)` \|", PAGE, re.MULTILINE)
SERVICES = {"accounts", "commitcollect", "countries", "events", "todo"}


def found(hop: str) -> object:
    """What a hop names: a function, a class or a method, below the module with the longest name that there is."""
    package = "partita_services" if hop.partition(".")[0] in SERVICES else "partita"
    parts = f"{package}.{hop}".split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            thing: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            thing = getattr(thing, name)
        return thing
    raise AssertionError(hop)


@pytest.mark.parametrize("hop", HOPS)
def test_a_hop_is_there(hop: str) -> None:
    assert callable(found(hop))


def test_there_are_six_flows() -> None:
    assert PAGE.count("\n## ") == 6


def test_a_hop_that_is_gone_is_noticed() -> None:
    with pytest.raises(AttributeError):
        found("session._session.Session.drive")
