"""Our own server passes every probe, and docs/wire.md shows the measured results of all engines."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from tests.fidelity import Api, Probe, Result, _recorded, all_probes
from tests.fidelity.__main__ import PAGE, main, run
from tests.fidelity._cost import forecast
from tests.fidelity._recorded import record, recorded, state_of
from tests.fidelity._report import docs_table, failures, percent, table_in, with_table, write_report
from tests.fidelity._targets import LOCAL_TARGETS

RULES = Path(__file__).parents[2] / "docs/dynamodb-rules.md"
ONE_CENT = 0.01

pytestmark = pytest.mark.xdist_group("referee")  # the worker that runs the other engine already


@pytest.fixture(scope="module")
def probes() -> list[Probe]:
    return all_probes()


@pytest.fixture(scope="module")
def ours(probes: list[Probe]) -> list[Result]:
    return run("ours", probes)


def test_our_server_does_what_aws_does(ours: list[Result]) -> None:
    assert failures([result for result in ours if result.outcome != "same"]) == ""


NEED_A_BUCKET = {54, 55, 56, 58}
"""Rules of running bulk operations, which need a bucket that any endpoint can read; `tests/wire/bulk` tests them."""


def test_every_rule_has_a_probe(probes: list[Probe]) -> None:
    rules = {int(number) for number in re.findall(r"^- \*\*(\d+)\*\*", RULES.read_text(encoding="utf-8"), re.MULTILINE)}
    probed = {rule for probe in probes for rule in probe.rules}
    assert (sorted(rules - probed), sorted(probed - rules)) == (sorted(NEED_A_BUCKET), [])


def test_every_probe_has_a_name_of_its_own(probes: list[Probe]) -> None:
    assert [name for name, count in Counter(probe.name for probe in probes).items() if count > 1] == []


def test_a_run_on_aws_costs_less_than_a_cent(probes: list[Probe]) -> None:
    assert forecast([probe for probe in probes if not probe.billed]).dollars < ONE_CENT


@pytest.mark.slow
def test_the_table_of_the_page_is_what_is_measured(probes: list[Probe], ours: list[Result]) -> None:
    """Other engines are probed only if a probe or a version is new; otherwise the recorded results are used."""
    # They run on separate servers, because leftovers such as a protected table would break other tests.
    others = {target: recorded(target, probes) or run(target, probes) for target in LOCAL_TARGETS if target != "ours"}
    page = PAGE.read_text(encoding="utf-8")
    assert table_in(page) == docs_table({"ours": ours, **others}), "python -m tests.fidelity --write"


def test_what_was_answered_is_kept_for_these_probes_and_this_version(
    probes: list[Probe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "recorded.json"
    assert recorded("moto", probes, kept) is None
    one, other = probes[:2]
    absent = Result(one.name, one.area, one.tier, one.rules, "absent")
    results = [absent, Result(other.name, other.area, other.tier, other.rules, "same")]
    record({"ours": results, "moto": results}, kept)
    found = recorded("moto", [one, other], kept)
    assert found is not None
    assert [result.outcome for result in found] == ["absent", "same"]
    assert recorded("ours", [one, other], kept) is None
    monkeypatch.setattr(_recorded, "version", lambda _: "0.0.1")
    assert recorded("moto", [one, other], kept) is None


def test_another_probe_is_another_state(tmp_path: Path) -> None:
    (tmp_path / "values.py").write_text("one = 1")
    before = state_of("moto", tmp_path)
    (tmp_path / "test_of_them.py").write_text("two = 2")
    assert state_of("moto", tmp_path) == before
    (tmp_path / "values.py").write_text("one = 2")
    assert state_of("moto", tmp_path) != before


def test_a_table_is_put_between_its_marks() -> None:
    page = PAGE.read_text(encoding="utf-8")
    changed = with_table(page, "| new |")
    assert table_in(changed) == "| new |"
    assert with_table(changed, table_in(page)) == page


def test_aws_is_asked_nothing_before_somebody_agreed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["https://dynamodb.eu-west-1.amazonaws.com", "--area", "wire"]) == 2
    shown = capsys.readouterr().out
    assert ("partita-fidelity-" in shown, "cents" in shown) == (True, True)


def test_a_report_names_no_account(tmp_path: Path) -> None:
    found = Result("one", "tables", 1, (47,), "different", "arn:aws:dynamodb:eu-west-1:123456789012:table/x")
    write_report(tmp_path / "report.json", "https://dynamodb.eu-west-1.amazonaws.com", [found])
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["results"][0]["detail"] == "arn:aws:dynamodb:eu-west-1:000000000000:table/x"
    assert (report["divergence"], report["coverage"]) == (1, 1)


def test_a_share_is_never_rounded_to_none_or_to_all() -> None:
    assert [percent(share) for share in (0, 0.0002, 0.5, 0.9998, 1)] == [
        "0.0 %",
        "0.02 %",
        "50.0 %",
        "99.98 %",
        "100.0 %",
    ]


def test_an_operation_that_is_not_known_is_absent() -> None:
    def ask(api: Api) -> None:
        api("DescribeNextYear")

    later = Probe("what comes next year", "elsewhere", (), 3, billed=False, races=False, ask=ask)
    assert run("ours", [later])[0].outcome == "absent"
