"""The tutorial works when copied line by line on a clean machine: with the wheel, outside the repository."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from tests.test_wheel import ROOT, Wheel, environment_for, link, needed, wheels
from tests.tutorial import Command, Reader, edited, steps

__all__ = ["wheels"]
PAGES = [ROOT / "docs/tutorial/index.md", *sorted((ROOT / "docs/tutorial").glob("[0-9]-*.md"))]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def test_a_diff_replaces_lines() -> None:
    assert edited("a\nb\nc\n", "-b\n+b\n+d\n") == "a\nb\nd\nc\n"
    with pytest.raises(AssertionError, match="nothing to replace"):
        edited("a\n", "-b\n+c\n")


def test_dots_stand_for_anything() -> None:
    assert Command("x", "a…c\n").is_printed_by("a\nb\nc\n")
    assert not Command("x", "a…d\n").is_printed_by("a\nb\nc\n")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("wheel")
def test_the_tutorial_works_by_copy_and_paste(wheels: dict[str, Wheel], tmp_path: Path) -> None:
    wheel = wheels["partita"]
    site = environment_for(wheel, tmp_path, "serve")
    for name in ("botocore", "pytest", "httpx", "hatchling"):
        for each in (name, *needed([name])):
            link(each, site)
    python = tmp_path / "environment/bin/python"
    install = f"{sys.executable} -m pip --python {python} install --quiet --no-deps --no-index --no-compile"
    home = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PARTITA", "AWS", "PYTEST"))
    }
    home |= {"HOME": str(tmp_path), "PATH": f"{tmp_path / 'environment/bin'}{os.pathsep}{os.environ['PATH']}"}
    (tmp_path / "shelf-tutorial").mkdir()
    reader = Reader(tmp_path / "shelf-tutorial", home, f"{install} --no-build-isolation -e .")
    try:
        assert reader.said(f"{install} {wheel.path}")[0] == "0"
        for step in steps(PAGES, {"8400": str(free_port()), "8401": str(free_port())}):
            reader.follow(*step)
    finally:
        reader.close()
