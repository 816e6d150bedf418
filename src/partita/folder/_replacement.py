"""Putting several files in the place of others, all or none, however often the process is killed.

staged files on the disk ─── the plan is written ─── files take their places ─── the plan is removed
                          ↑ until here nothing has changed; from here on whoever opens the folder next goes on
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
from partita.runtime import create_private, open_private, sync

PLAN: Final = "restore.json"
STAGED: Final = ".restoring"
_PARTS: Final = ("-wal", "-shm", "-journal")
_KEPT: Final = re.compile(r"\.before-[0-9TZ.]+")


class Plan(Struct, frozen=True):
    """Which files take their places, what becomes of those that are there, and what is removed."""

    names: tuple[str, ...]
    kept: str
    """What is put behind the names of files that were there."""
    removed: tuple[str, ...]


def kept_suffix(now: float) -> str:
    """What is put behind the names of files that are kept."""
    return f".before-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S.%fZ}"


def replace_files(folder: Path, staged: Path, removed: Sequence[str], now: float) -> list[Path]:
    """Put all files of a folder in the place of those of a data folder, which nobody uses.

    Args:
        folder: the data folder.
        staged: the files, in a folder on the same disk.
        removed: names of files that were made from what is replaced.
        now: for the names of what is kept.

    Returns the files that were there, under other names.
    """
    place = folder / STAGED
    shutil.rmtree(place, ignore_errors=True)  # of an earlier one that was killed before it had a plan
    names = tuple(sorted(path.name for path in staged.iterdir()))
    staged.rename(place)
    sync(place)
    sync(folder)
    plan = Plan(names, kept_suffix(now), tuple(removed))
    unfinished = folder / f"{PLAN}.partial"
    unfinished.unlink(missing_ok=True)
    create_private(unfinished)
    with os.fdopen(open_private(unfinished), "wb") as file:
        file.write(msgspec.json.encode(plan))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(folder / PLAN)
    sync(folder)
    return _carry_out(folder, plan)


def finish_replacement(folder: Path) -> None:
    """Go on where a process that replaced files was killed; does nothing where there is nothing to do.

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
    """Nobody but us wrote it, but a name that leads elsewhere must never be followed."""
    if not _KEPT.fullmatch(plan.kept) or any(Path(name).name != name for name in (*plan.names, *plan.removed)):
        raise StoreDamaged(f"The plan {folder / PLAN} names files that are not of the folder.")
    if any(kind_of_file(name) == "other" for name in plan.names):
        raise StoreDamaged(f"The plan {folder / PLAN} names files that are not of the folder.")


def _carry_out(folder: Path, plan: Plan) -> list[Path]:
    """Each step can be repeated: a file that has taken its place is no longer staged."""
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
    """Give a file that is there a second name, with the log of a database that could not be read."""
    for part in ("", "-wal"):
        found, kept = Path(f"{path}{part}"), Path(f"{path}{suffix}{part}")
        if found.exists() and not kept.exists():
            os.link(found, kept)
