"""Every function on the architecture page is called in the order of the page."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from tests.flows import FLOWS, Calls

PAGE = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
TABLES = {
    title: re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)
    for title, table in re.findall(r"^## (.+)\n([^#]+)", PAGE, re.MULTILINE)
}
SERVICES = {"accounts", "commitcollect", "countries", "events", "todo"}


def found(hop: str) -> object:
    """Return the function, class or method that a hop names, from the module with the longest matching name."""
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


@pytest.mark.xdist_group("lake")
@pytest.mark.parametrize("title", TABLES)
def test_a_flow_passes_every_hop_in_this_order(title: str, tmp_path: Path) -> None:
    hops = {hop: found(hop) for hop in TABLES[title]}
    calls = Calls(hops.values())
    FLOWS[title](tmp_path, calls)
    missed = calls.first_missed(hops)
    assert missed is None, f"{missed} is not called after the hop before it: write docs/architecture.md as it is now"


def test_there_are_six_flows() -> None:
    assert list(TABLES) == list(FLOWS)
    assert all(map(len, TABLES.values()))


def test_a_hop_that_is_gone_is_noticed() -> None:
    with pytest.raises(AttributeError):
        found("session._session.Session.drive")


def test_a_hop_that_is_not_passed_is_noticed(tmp_path: Path) -> None:
    hops = {hop: found(hop) for hop in ("session._session.Session.run", "store.embedded._writes.put_item")}
    calls = Calls(hops.values())
    FLOWS["A get on the embedded store"](tmp_path, calls)
    assert calls.first_missed(hops) == "store.embedded._writes.put_item"
    assert calls.first_missed(dict(reversed(hops.items()))) == "store.embedded._writes.put_item"
