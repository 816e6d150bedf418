"""How much memory a server and its processes take, whatever else runs on the machine.

The proportional set size that Linux gives divides a page by all who have mapped it. Other programs of Python share the
files of the interpreter, of OpenSSL and of Pydantic, so that a server would look smaller beside them than alone. So:

- **pages of programs and files** are counted once, however many processes have them: the union of what is mapped and
  present in any of ours, page by page (`/proc/PID/pagemap`), whoever else has them too;
- **all other pages** are private, or shared by forks alone, which are ours: there the proportional part is exact, and
  its sum counts each page once.

The sum is what would be free if the server were not there and nobody else had its files.
"""

from __future__ import annotations

import re
import resource
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bench._processor import PROC

_PAGE: Final = resource.getpagesize()
_OF_A_FILE: Final = 1 << 63 | 1 << 61
"""In memory, and of a file: a page that was written to is copied, and belongs to no file any more."""
_MAPPING: Final = re.compile(r"^(\w+)-(\w+) \S+ (\w+) (\S+) (\d+)", re.MULTILINE)


def megabytes(pids: Iterable[int]) -> float:
    """What these processes take together. They are all that were forked from the same one."""
    processes = [PROC / str(pid) for pid in pids]
    own = sum(_own_bytes(process) for process in processes)
    return (own + _PAGE * len(set().union(*(_pages_of_files(process) for process in processes)))) / 1_000_000


def _own_bytes(process: Path) -> int:
    found = re.findall(r"^(?:Pss_Anon|SwapPss):\s*(\d+)", (process / "smaps_rollup").read_text(), re.MULTILINE)
    return sum(map(int, found)) * 1024


def _pages_of_files(process: Path) -> Iterator[tuple[str, str, int]]:
    """Device, inode and number of each page of a file that the process has in memory."""
    with (process / "pagemap").open("rb", buffering=0) as pages:
        for start, end, offset, device, inode in _MAPPING.findall((process / "maps").read_text()):
            if inode != "0":
                first = int(offset, 16) // _PAGE
                pages.seek(int(start, 16) // _PAGE * 8)
                entries = array("Q", pages.read((int(end, 16) - int(start, 16)) // _PAGE * 8))
                yield from (
                    (device, inode, first + number)
                    for number, entry in enumerate(entries)
                    if entry & _OF_A_FILE == _OF_A_FILE
                )
