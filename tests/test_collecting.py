"""What a worker compiles before it collects."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from tests.collecting import compile_missing, sources


def test_what_was_compiled_is_what_pytest_reads(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    test = tmp_path / "test_sum.py"
    test.write_text("def test_sum():\n    assert sum([1, 2]) == 4\n")
    compile_missing([test], pytestconfig)
    (compiled,) = tmp_path.rglob("*.pyc")
    read = rewrite._read_pyc(test, compiled)
    assert read is not None
    names: dict[str, object] = {}
    exec(read, names)  # noqa: S102
    with pytest.raises(AssertionError, match=r"sum\(\[1, 2\]\)"):
        names["test_sum"]()  # type: ignore[operator]


def test_what_is_there_is_left_alone(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    there, broken = tmp_path / "test_there.py", tmp_path / "test_broken.py"
    there.write_text("x = 1")
    compile_missing([there], pytestconfig)
    (compiled,) = tmp_path.rglob("*.pyc")
    before = compiled.stat().st_ino
    broken.write_text("def")
    compile_missing([there, broken], pytestconfig)
    assert [path.stat().st_ino for path in tmp_path.rglob("*.pyc")] == [before]


def test_tests_and_the_library_are_compiled() -> None:
    files = sources()
    assert Path(__file__) in files
    assert any(file.name == "conftest.py" for file in files)
    assert any(file.parts[-3:] == ("src", "partita", "service.py") for file in files)
