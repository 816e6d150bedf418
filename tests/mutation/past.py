"""Past bugs, put back one at a time: the tests that were written for them must fail.

Each bug is put into a copy of the package, and its tests run on the copy. `docs/how-we-know.md` has the list.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct
from tests.mutation.subjects import CORE, ROOT

OPTIONS: Final = ("-n0", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=line", "-o", "timeout=120")


class Past(Struct, frozen=True):
    """A past bug: the fix, the code before the fix, and the tests that notice the bug."""

    name: str
    about: str
    module: str
    fix: str
    before: str
    tests: tuple[str, ...]

    def put_back(self, source: str) -> str:
        """Return the source of the module with the bug.

        Raises:
            ValueError: the fix is not in the source, or more than once.
        """
        if source.count(self.fix) != 1:
            raise ValueError(f"{self.name}: {self.module} has {source.count(self.fix)} times {self.fix!r}.")
        return source.replace(self.fix, self.before)


BUGS: Final = (
    Past(
        "D1",
        "the lake stops permanently after one full disk",
        "cli/data/_follow.py",
        "except Exception as error:  # sinks fail",
        "except PartitaError as error:  # sinks fail",
        ("tests/cli/data/test_follow.py::test_nothing_ends_the_loop_and_what_is_in_trouble_is_named",),
    ),
    Past(
        "D1 health",
        "the health check still reports ok",
        "app/_app.py",
        '{"status": "degraded", "troubles": troubles} if troubles else {"status": "ok"}',
        '{"status": "ok"}',
        ("tests/app/test_app.py::test_health_names_what_cannot_go_on_in_the_background",),
    ),
    Past(
        "D2",
        "writes are acknowledged into a deleted folder",
        "_sqlite/_transaction.py",
        "            refuse_moved(self._writer.connection, self._has_moved)\n",
        "",
        ("tests/store/embedded/test_moved.py::test_no_write_is_acknowledged",),
    ),
    Past(
        "D2 health",
        "the health check of a deleted folder reports ok",
        "store/embedded/tables/_definitions.py",
        "    refuse_moved(reader.connection)\n",
        "",
        ("tests/store/embedded/test_moved.py::test_who_asks_after_its_health_learns_it", "tests/cli/test_vanished.py"),
    ),
    Past(
        "D2 beside",
        "a restarted process creates a new folder in place of the deleted one",
        "cli/_data_folder.py",
        "return self.is_in_use and not database.exists()",
        "return False",
        ("tests/cli/test_vanished.py",),
    ),
    Past(
        "D3",
        "a damaged projection stops the server",
        "cli/data/_follow.py",
        "enter_context(closing(_open_or_rebuild(service.projection.open, _path_of(service, data))))",
        "enter_context(closing(service.projection.open(_path_of(service, data))))",
        ("tests/cli/data/test_follow.py::test_a_damaged_projection_is_built_again",),
    ),
    Past(
        "D3 check",
        "`partita check` does not check queues",
        "cli/data/_check.py",
        'sorted(folder.path.glob("queue-*.db"))',
        "()",
        ("tests/cli/data/test_backup.py::test_the_check_covers_queues",),
    ),
    Past(
        "D3 hint",
        "the hint for a damaged queue is the one for a database, which does not say to move the file away",
        "queue/embedded/_queue.py",
        "        error.hint = DAMAGED\n",
        "        pass\n",
        ("tests/queue/test_embedded.py::test_the_advice_for_a_damaged_queue_is_not_to_restore_a_backup",),
    ),
    Past(
        "D4 messages",
        "setting a clock back freezes messages for as long as it was ahead",
        "queue/embedded/_file.py",
        "return now + 1, now + int(MAX_HIDDEN_SECONDS * MICROSECONDS)",
        "return now + 1, 2**62",
        ("tests/queue/test_embedded.py::test_a_message_received_while_the_clock_was_ahead_comes_again",),
    ),
    Past(
        "D4 leases",
        "setting a clock back freezes leases for as long as it was ahead",
        "recipes/leases.py",
        "            f(record.until_ms).gt(impossible),\n",
        "",
        ("tests/recipes/test_leases.py::test_a_lease_taken_while_the_clock_was_ahead_does_not_last",),
    ),
    Past(
        "D5",
        "the tail of a damaged log is lost silently",
        "store/embedded/_store.py",
        "                _sqlite.refuse_cut_log(self._writer.connection, self.path)\n",
        "                pass\n",
        ("tests/_sqlite/test_log_damage.py", "tests/store/embedded/test_flipped_bytes.py"),
    ),
    Past(
        "D6",
        "an emptied database with queues next to it is treated as a new one",
        "cli/_data_folder.py",
        "if beside := sorted(",
        "if beside := () and sorted(",
        ("tests/cli/data/test_backup.py::test_an_emptied_database_is_not_taken_for_a_new_one",),
    ),
    Past(
        "D7",
        "a backup of a damaged store exits 0",
        "folder/_proof.py",
        "            verify(connection, str(blamed), progress)\n",
        "            pass\n",
        ("tests/cli/data/test_backup.py::test_a_damaged_database_is_not_copied",),
    ),
    Past(
        "D8",
        "a damaged item causes a TypeError, and 500 `internal`",
        "store/embedded/_table.py",
        "ITEM: Final = \"ifnull(CAST(item AS BLOB), x'')\"",
        'ITEM: Final = "item"',
        ("tests/store/embedded/test_damage.py::test_an_item_that_is_not_bytes_is_damage",),
    ),
    Past(
        "D9",
        "`check` and `backup` cannot run on a read-only mount",
        "cli/data/_readable.py",
        "if not data.path.is_dir() or os.access(data.path, os.W_OK):",
        "if True:",
        ("tests/cli/test_environment.py::test_what_cannot_be_written_is_checked_and_backed_up_in_a_copy",),
    ),
    Past(
        "D10 names",
        "a folder whose name is not UTF-8 causes a traceback",
        "cli/_data_folder.py",
        "            str(self.path).encode()\n",
        "",
        ("tests/cli/test_environment.py::test_a_folder_whose_name_is_not_utf_8_is_refused_and_not_made",),
    ),
    Past(
        "D10 signals",
        "SIGHUP and SIGQUIT end processes without a shutdown",
        "cli/_signals.py",
        '("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")',
        '("SIGINT", "SIGTERM")',
        ("tests/cli/test_environment.py::test_every_signal_of_a_terminal_stops_in_order",),
    ),
    Past(
        "D10 output",
        "a server with closed output fails with a traceback",
        "cli/_main.py",
        "    open_missing_streams()\n",
        "    pass\n",
        ("tests/cli/test_environment.py::test_a_server_needs_no_output",),
    ),
    Past(
        "D11",
        "a suspended process that holds the lock keeps others waiting forever",
        "_sqlite/_process_lock.py",
        "if not self._waiter.wait(PATIENCE_SECONDS):",
        "if not self._waiter.wait(1e6):",
        ("tests/_sqlite/test_process_lock.py::test_a_wait_has_a_deadline",),
    ),
    Past(
        "D12",
        "one traceback in the log for each 503",
        "runtime/_outage_log.py",
        'if now - self._logged.get(code, float("-inf")) < OUTAGE_SECONDS:',
        "if False:",
        ("tests/runtime/test_outage_log.py", "tests/cli/test_vanished.py"),
    ),
    Past(
        "D12 moved",
        "a deleted folder causes a 500 with a traceback for each request",
        "http/_problems.py",
        "    errors.StoreMoved: 503,\n",
        "",
        ("tests/cli/test_vanished.py", "tests/http/test_problems.py"),
    ),
    Past(
        "D12 accepting",
        "a flood of log lines at the limit of file descriptors",
        "cli/_descriptors.py",
        "if loop.time() >= self._same_until:",
        "if True:",
        ("tests/cli/test_descriptors.py::test_an_outage_is_logged_once",),
    ),
    Past(
        "checksums",
        "reads of a flipped byte return wrong data without an error",
        "_sqlite/_file_system.py",
        "return _CHECKING if apsw.vfs_names()[0] in _PLAIN and _is_loaded() else None",
        "return None",
        ("tests/store/embedded/test_flipped_bytes.py::test_no_read_of_a_file_with_a_flipped_bit_is_wrong",),
    ),
)


def is_noticed(bug: Past) -> tuple[bool, str]:
    """Return whether a bug's tests fail when it is put back, and the first failure or the last line of pytest."""
    with tempfile.TemporaryDirectory(prefix="partita-past-") as folder:
        shutil.copytree(CORE.source, Path(folder) / CORE.package, ignore=shutil.ignore_patterns("__pycache__"))
        module = Path(folder) / CORE.package / bug.module
        module.write_text(bug.put_back(module.read_text(encoding="utf-8")), encoding="utf-8")
        paths = os.pathsep.join([folder, str(ROOT)])
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *OPTIONS, *bug.tests],
            env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return done.returncode == pytest.ExitCode.TESTS_FAILED and bool(failed), (failed or done.stdout.splitlines()[-1:])[
        0
    ]


def tried(only: str = "") -> Iterator[tuple[Past, bool, str]]:
    """Put back the bugs whose names begin with `only`; yield each with the result of `is_noticed`."""
    for bug in BUGS:
        if bug.name.startswith(only):
            yield (bug, *is_noticed(bug))
