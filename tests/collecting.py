"""A pytest plugin: workers collect tests at little cost.

Every worker imports every test. In a fresh clone none has been compiled, with its asserts rewritten, and each worker
would compile them all. Here each begins at another place of the list, and leaves out what another has compiled by then.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite

ROOT = Path(__file__).parent.parent


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Most of what is made from here on stays: looking for garbage would find none."""
    gc.disable()
    worker: Mapping[str, Any] | None = getattr(session.config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    files = sources()
    begin = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    compile_missing(files[begin:] + files[:begin], session.config)


def pytest_collection_finish() -> None:
    """What has been imported stays until the end: no garbage collection has to look at it again.

    Nor does one have to come after every 700 objects: most are gone by then without it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    gc.enable()


def sources() -> list[Path]:
    """The modules whose asserts pytest rewrites: tests, and the library, because it has a plugin."""
    tests = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("tests/**/conftest.py")]
    return sorted([*tests, *ROOT.glob("src/partita/**/*.py")])


def compile_missing(files: Sequence[Path], config: pytest.Config) -> None:
    """Compile what has not been, as pytest does when it imports them."""
    state = config.stash[rewrite.assertstate_key]
    for file in files:
        compiled = rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"
        if not compiled.exists() and rewrite.try_makedirs(compiled.parent):
            with suppress(SyntaxError):  # which the import will name
                source_hash, code = rewrite._rewrite_test(file, config)
                rewrite._write_pyc(state, code, source_hash, compiled)
