"""Installed services are found by their entry points, and a broken one does not affect the others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.installed import SERVICE, Install, installing

from partita.model import REGISTRY
from partita.service import BrokenService, Service, discover, find_service, installed_services


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A function that installs services; nothing else is installed."""
    yield from installing(tmp_path, monkeypatch)


def names() -> list[str]:
    return [each.name for each in discover()]


def broken() -> dict[str, str]:
    return {each.name: each.reason for each in installed_services().broken}


def test_services_are_found_by_their_names(install: Install) -> None:
    install(zoo=SERVICE.format(name="zoo", table="disc-zoo"), ark=SERVICE.format(name="ark", table="disc-ark"))
    assert (names(), broken(), installed_services().names) == (["ark", "zoo"], {}, ("ark", "zoo"))


FAULTS = {
    "a missing package": ("import disc_nowhere.part", "No module named 'disc_nowhere' ({file}, line 1)."),
    "another error": ("\nraise RuntimeError('out of\\n order')", "RuntimeError: out of order ({file}, line 2)."),
    "an end of the process": ("raise SystemExit(3)", "SystemExit: 3 ({file}, line 1)."),
    "a wrong declaration": ("from partita import Table\nTable('x')", "'x' is not a valid name for a table or index."),
    "no service": ("SERVICE = {}", "disc_bad:SERVICE is not a Service, but of type dict."),
    "nothing": ("", "module 'disc_bad' has no attribute 'SERVICE'"),
}


@pytest.mark.parametrize(("source", "reason"), FAULTS.values(), ids=FAULTS.keys())
def test_one_that_cannot_be_loaded_is_named_and_the_others_work(
    source: str, reason: str, install: Install, tmp_path: Path
) -> None:
    install(bad=source, good=SERVICE.format(name="good", table="disc-good"))
    assert (names(), list(broken())) == (["good"], ["bad"])
    assert reason.format(file=tmp_path / "disc_bad.py") in broken()["bad"]
    assert installed_services().names == ("bad", "good")


def test_a_package_that_is_not_installed_is_named_by_itself(install: Install) -> None:
    install(bad="import disc_nowhere.part")
    found = find_service("bad")
    assert isinstance(found, BrokenService)
    assert found.missing == "disc_nowhere"


def test_a_module_that_is_gone_is_a_reason_of_one_line(install: Install, tmp_path: Path) -> None:
    install(gone="")
    (tmp_path / "disc_gone.py").unlink()
    assert broken() == {"gone": "No module named 'disc_gone'."}


def test_two_tables_of_one_name_are_named_with_both_modules(install: Install) -> None:
    install(first=SERVICE.format(name="first", table="disc-a"), second=SERVICE.format(name="second", table="disc-a"))
    assert names() == ["first"]
    assert broken()["second"].startswith("Two tables are named 'disc-a': one in disc_first, one in disc_second. ")


def test_a_service_that_is_asked_for_needs_no_other(install: Install) -> None:
    install(first=SERVICE.format(name="first", table="disc-a"), second=SERVICE.format(name="second", table="disc-a"))
    found = find_service("second")
    assert isinstance(found, Service)
    assert "disc_first" not in sys.modules


def test_a_service_is_found_by_its_own_name_too(install: Install) -> None:
    install(entry=SERVICE.format(name="other", table="disc-a"))
    found = find_service("other")
    assert (found, find_service("entry")) == (discover()[0], None)


def test_two_services_of_one_name_are_both_refused(install: Install) -> None:
    install(a=SERVICE.format(name="twin", table="disc-a"), b=SERVICE.format(name="twin", table="disc-b"))
    assert names() == []
    assert broken() == {"twin": "Several services have this name: disc_a:SERVICE and disc_b:SERVICE."}
    assert find_service("twin") == installed_services().broken[0]


def test_a_service_that_is_installed_twice_is_one(install: Install) -> None:
    install(a=SERVICE.format(name="a", table="disc-a"), b="from disc_a import SERVICE")
    assert (names(), broken()) == (["a"], {})


def test_what_failed_is_not_tried_again(install: Install, tmp_path: Path) -> None:
    loads = str(tmp_path / "loads")
    counted = f"with open({loads!r}, 'a') as file:\n    file.write('x')\nraise RuntimeError('out of order')"
    install(bad=f"from partita import Table\nTable('disc-bad')\n{counted}")
    assert broken() == broken()
    assert "out of order" in broken()["bad"]
    assert (tmp_path / "loads").read_text() == "x"


def test_services_that_share_a_module_that_fails_have_its_reason(install: Install, tmp_path: Path) -> None:
    shared = "from partita import Table\nTable('disc-bad')\nraise RuntimeError('out of order')\n"
    (tmp_path / "disc_shared.py").write_text(shared, encoding="utf-8")
    install(a="import disc_shared", b="import disc_shared")
    assert {name: "out of order" in reason for name, reason in broken().items()} == {"a": True, "b": True}
    assert "disc-bad" not in REGISTRY
