"""Every attack on the security page names its tests, and these tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::([\w:]+))?[^`]*`")
MIN_ATTACKS = 100


def rows() -> list[tuple[str, str]]:
    """Return the attacks, each with the cell that names its tests."""
    lines = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [(attack, played) for attack, played, *_ in cells if attack not in ("attack", "---")]


def test_there_are_attacks() -> None:
    assert len(rows()) >= MIN_ATTACKS


@pytest.mark.parametrize(("attack", "played"), rows(), ids=[attack[:60] for attack, _ in rows()])
def test_an_attack_is_played(attack: str, played: str) -> None:
    named = TEST.findall(played)
    assert named, attack
    for path, names in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        for name in filter(None, names.split("::")):
            assert re.search(rf"^\s*(?:async )?(?:def|class) {name}\b", source, re.MULTILINE), f"{path}::{name}"
