"""Peers that only the harness uses: installed once, and skipped if no registry has them."""

from __future__ import annotations

from pathlib import Path

from bench._peers import node_peer, python_peer


class Registry:
    """An installer that succeeds only for the packages that it has, and records the commands that it receives."""

    def __init__(self, file: str | None = None, *, has_it: bool = True) -> None:
        self.asked: list[list[str]] = []
        self._file = file
        self._has_it = has_it

    def __call__(self, command: list[str]) -> bool:
        self.asked.append(command)
        if self._has_it and self._file is not None:
            place = Path(command[command.index("--prefix") + 1]) / "node_modules" / self._file
            place.parent.mkdir(parents=True)
            place.touch()
        return self._has_it


def test_a_python_peer_is_installed_once_into_a_folder_of_its_own(tmp_path: Path) -> None:
    first, second = Registry(), Registry()
    place = python_peer("sqlalchemy", tmp_path, first)
    assert place == tmp_path / "python" / "sqlalchemy"
    assert first.asked[0][-3:] == ["--target", str(place), "sqlalchemy"]
    assert (python_peer("sqlalchemy", tmp_path, second), second.asked) == (place, [])


def test_a_node_peer_is_installed_without_running_its_scripts(tmp_path: Path) -> None:
    registry = Registry("@a/b/program")
    found = node_peer("@a/b", "program", tmp_path, registry)
    assert found == tmp_path / "node" / "@a-b" / "node_modules" / "@a/b" / "program"
    assert "--ignore-scripts" in registry.asked[0]


def test_what_no_registry_has_is_not_there(tmp_path: Path) -> None:
    assert python_peer("nowhere", tmp_path, Registry(has_it=False)) is None
    assert node_peer("nowhere", "cli.js", tmp_path, Registry(has_it=False)) is None
    assert node_peer("other", "cli.js", tmp_path, Registry("other/another.js")) is None
    assert not (tmp_path / "python").exists()
