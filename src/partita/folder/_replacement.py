"""Replacing several files, all or none, even if the process is killed at any point.

staged files on the disk ─── the plan is written ─── files are replaced ─── the plan is removed
                          ↑ before this nothing has changed; after this the next process to open the folder resumes
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from partita._sqlite import ProcessLock
from partita.errors import StoreDamaged
from partita.folder._files import kind_of_file
from partita.runtime import sync, write_private

PLAN: Final = "restore.json"
STAGED: Final = ".restoring"
_PARTS: Final = ("-wal", "-shm", "-journal")
_KEPT: Final = re.compile(r"\.before-[0-9TZ.]+")


class Plan(Struct, frozen=True):
    """The files to put in place, the suffix under which existing ones are kept, and the files to remove."""

    names: tuple[str, ...]
    kept: str
    """The suffix that is appended to the names of replaced files."""
    removed: tuple[str, ...]


def kept_suffix(now: float) -> str:
    """The suffix that is appended to the names of replaced files."""
    return f".before-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S.%fZ}"


def replace_files(folder: Path, staged: Path, removed: Sequence[str], now: float) -> list[Path]:
    """Replace the files of a data folder that no process uses with all files of another folder.

    Args:
        folder: the data folder.
        staged: the folder with the new files, on the same disk.
        removed: names of files to remove, because they were derived from the replaced files.
        now: the time, for the suffix of the replaced files.

    Returns the paths under which the replaced files are kept.
    """
    place = folder / STAGED
    shutil.rmtree(place, ignore_errors=True)  # left by a process that was killed before it wrote its plan
    names = tuple(sorted(path.name for path in staged.iterdir()))
    staged.rename(place)
    sync(place)
    sync(folder)
    plan = Plan(names, kept_suffix(now), tuple(removed))
    write_private(folder / PLAN, msgspec.json.encode(plan))
    return _carry_out(folder, plan)


def finish_replacement(folder: Path) -> None:
    """Finish the replacement of a process that was killed; do nothing if there is none.

    Raises:
        StoreDamaged: the plan cannot be read.
    """
    if not (folder / PLAN).exists():
        return
    with closing(ProcessLock(folder / PLAN)) as lock, lock:
        try:
            plan = msgspec.json.decode((folder / PLAN).read_bytes(), type=Plan)
        except FileNotFoundError:
            return  # another process was faster
        except msgspec.MsgspecError as error:
            raise StoreDamaged(f"The plan {folder / PLAN} cannot be read: {error}.") from error
        _check(folder, plan)
        _carry_out(folder, plan)


def _check(folder: Path, plan: Plan) -> None:
    """Reject a plan whose names point outside the folder, although only this module writes plans."""
    if not _KEPT.fullmatch(plan.kept) or any(Path(name).name != name for name in (*plan.names, *plan.removed)):
        raise StoreDamaged(f"The plan {folder / PLAN} names files that do not belong in a data folder.")
    if any(kind_of_file(name) == "other" for name in plan.names):
        raise StoreDamaged(f"The plan {folder / PLAN} names files that do not belong in a data folder.")


def _carry_out(folder: Path, plan: Plan) -> list[Path]:
    """Carry out a plan. Each step can be repeated: a file that was put in place is no longer staged."""
    for name in plan.names:
        if (folder / STAGED / name).exists():
            _keep(folder / name, plan.kept)
            for part in _PARTS:
                Path(f"{folder / name}{part}").unlink(missing_ok=True)
            (folder / STAGED / name).replace(folder / name)
    for name in plan.removed:
        (folder / name).unlink(missing_ok=True)
    sync(folder)
    shutil.rmtree(folder / STAGED, ignore_errors=True)
    (folder / PLAN).unlink(missing_ok=True)
    sync(folder)
    return sorted(folder.glob(f"*{plan.kept}"))


def _keep(path: Path, suffix: str) -> None:
    """Give an existing file, and the log that a database has if it could not be opened, a second name."""
    for part in ("", "-wal"):
        found, kept = Path(f"{path}{part}"), Path(f"{path}{suffix}{part}")
        if found.exists() and not kept.exists():
            os.link(found, kept)
