"""Our own server does what AWS does in every probe, and the page tells the truth about it and the other engines."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.fidelity import Api, Probe, Result, all_probes, run_probe
from tests.fidelity.__main__ import PAGE, run
from tests.fidelity._cost import forecast
from tests.fidelity._known import KNOWN_DIFFERENCES
from tests.fidelity._report import docs_table, failures, table_in, with_table
from tests.fidelity._targets import LOCAL_TARGETS, tidied

RULES = Path(__file__).parents[2] / "docs/dynamodb-rules.md"
ONE_CENT = 0.01

pytestmark = pytest.mark.xdist_group("referee")  # where the other engine runs already


@pytest.fixture(scope="module")
def probes() -> list[Probe]:
    return all_probes()


@pytest.fixture(scope="module")
def ours(probes: list[Probe]) -> list[Result]:
    return run("ours", probes)


def test_our_server_does_what_aws_does(ours: list[Result]) -> None:
    unknown = [result for result in ours if result.outcome != "same" and result.name not in KNOWN_DIFFERENCES]
    assert failures(unknown) == ""


def test_what_is_known_to_be_different_is_different(ours: list[Result]) -> None:
    different = {result.name for result in ours if result.outcome != "same"}
    assert sorted(set(KNOWN_DIFFERENCES) - different) == []


def test_every_rule_has_a_probe(probes: list[Probe]) -> None:
    rules = {int(number) for number in re.findall(r"^- \*\*(\d+)\*\*", RULES.read_text(encoding="utf-8"), re.MULTILINE)}
    probed = {rule for probe in probes for rule in probe.rules}
    assert (sorted(rules - probed), sorted(probed - rules)) == ([], [])


def test_every_probe_has_a_name_of_its_own(probes: list[Probe]) -> None:
    assert [name for name, count in Counter(probe.name for probe in probes).items() if count > 1] == []


def test_a_run_on_aws_costs_less_than_a_cent(probes: list[Probe]) -> None:
    assert forecast([probe for probe in probes if not probe.billed]).dollars < ONE_CENT


def test_the_table_of_the_page_is_what_is_measured(probes: list[Probe], ours: list[Result], ministack_url: str) -> None:
    by_target = {"ours": ours, "ministack": [], "moto": run("moto", probes)}
    with tidied(Api(ministack_url, prefix="fidelity-")) as api:
        by_target["ministack"] = [run_probe(each, api) for each in probes]
    assert list(by_target) == list(LOCAL_TARGETS)
    page = PAGE.read_text(encoding="utf-8")
    assert table_in(page) == docs_table(by_target), "python -m tests.fidelity --write"


def test_a_table_is_put_between_its_marks() -> None:
    page = PAGE.read_text(encoding="utf-8")
    changed = with_table(page, "| new |")
    assert table_in(changed) == "| new |"
    assert with_table(changed, table_in(page)) == page
