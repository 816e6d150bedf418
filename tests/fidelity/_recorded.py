"""Recorded results of other engines, valid until a probe, its runner or the version of an engine changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
from tests.fidelity._probe import Outcome, Probe, Result
from tests.referee import ministack_version

FILE: Final = Path(__file__).with_name("recorded.json")
HERE: Final = Path(__file__).parent


class Recorded(msgspec.Struct, frozen=True):
    """The outcomes of one engine that are not `same`, and the state of probes and engine that they belong to."""

    state: str
    outcomes: dict[str, Outcome]


def state_of(target: str, folder: Path = HERE) -> str:
    """Return what the outcomes depend on: the engine's version, and a hash of the probes and their runner."""
    asked = sha256()
    for path in sorted(folder.rglob("*.py")):
        if not path.name.startswith("test_"):
            asked.update(f"{path.relative_to(folder).as_posix()}\n".encode() + path.read_bytes())
    return f"{_version(target)} {asked.hexdigest()}"


def _version(target: str) -> str:
    return ministack_version() if target == "ministack" else version(target)


def recorded(target: str, probes: Sequence[Probe], file: Path = FILE) -> list[Result] | None:
    """Return the recorded results of an engine; None if there are none for its current state."""
    found = _read(file).get(target)
    if found is None or found.state != state_of(target):
        return None
    return [
        Result(each.name, each.area, each.tier, each.rules, found.outcomes.get(each.name, "same"), races=each.races)
        for each in probes
    ]


def record(by_target: Mapping[str, Sequence[Result]], file: Path = FILE) -> None:
    """Write the outcomes of all engines except ours."""
    kept = {
        target: Recorded(
            state_of(target), {each.name: each.outcome for each in results if each.outcome != "same" and not each.races}
        )
        for target, results in by_target.items()
        if target != "ours"
    }
    file.write_bytes(msgspec.json.format(msgspec.json.encode(kept, order="sorted"), indent=1) + b"\n")


def _read(file: Path) -> dict[str, Recorded]:
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Recorded]) if file.exists() else {}
