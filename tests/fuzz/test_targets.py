"""Every target passes with its seeds, with inputs that once broke it, and with nearly valid inputs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fuzz.seeds import FINDINGS, SEEDS, WORDS
from fuzz.targets import TARGETS
from tests.fuzz.mutations import mutations

MUTATIONS = 1_000
INPUTS = [(name, number, data) for name in SEEDS for number, data in enumerate((*SEEDS[name], *FINDINGS[name]))]


def test_every_target_has_seeds_words_and_findings() -> None:
    assert SEEDS.keys() == WORDS.keys() == FINDINGS.keys() == TARGETS.keys()
    assert all(len(seeds) >= 3 for seeds in SEEDS.values())


def test_every_target_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fuzzing.md").read_text(encoding="utf-8")
    for heading in ("Targets", "What was run"):
        section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        assert re.findall(r"^\| `(\w+)` \| \S", section, re.MULTILINE) == [*TARGETS]


def test_seeds_are_small() -> None:
    assert [(name, number) for name, number, data in INPUTS if len(data) > 10_000] == []


@pytest.mark.parametrize(("name", "data"), [pytest.param(n, data, id=f"{n}-{number}") for n, number, data in INPUTS])
def test_a_target_holds_for_an_input(name: str, data: bytes) -> None:
    TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_for_inputs_that_are_nearly_right(name: str) -> None:
    for data in mutations((*SEEDS[name], *FINDINGS[name]), WORDS[name], MUTATIONS):
        try:
            TARGETS[name](data)
        except Exception as error:
            raise AssertionError(f"{name} is broken by {data!r}") from error
