"""How much memory a server and its processes use, independent of other programs on the machine.

The proportional set size (PSS) of Linux divides a page among all processes that map it. Other Python programs share the
files of the interpreter, of OpenSSL and of Pydantic, so a server would look smaller next to them than alone. Therefore:

- **pages of programs and files** are counted once, regardless of how many processes map them: the union of the pages
  that are mapped and present in any of the server's processes (`/proc/PID/pagemap`), even if other programs share them;
- **all other pages** are private, or shared only by forks of the server: for these the proportional share is exact,
  and the sum counts each page once.

The result is the memory that would be free if the server did not run and nothing else used its files.
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
"""The bits of a page that is present and belongs to a file; a written page is copied and then belongs to no file."""
_MAPPING: Final = re.compile(r"^(\w+)-(\w+) \S+ (\w+) (\S+) (\d+)", re.MULTILINE)


def megabytes(pids: Iterable[int]) -> float:
    """The memory of these processes together, which must be all forks of the same process."""
    processes = [PROC / str(pid) for pid in pids]
    own = sum(_own_bytes(process) for process in processes)
    return (own + _PAGE * len(set().union(*(_pages_of_files(process) for process in processes)))) / 1_000_000


def _own_bytes(process: Path) -> int:
    found = re.findall(r"^(?:Pss_Anon|SwapPss):\s*(\d+)", (process / "smaps_rollup").read_text(), re.MULTILINE)
    return sum(map(int, found)) * 1024


def _pages_of_files(process: Path) -> Iterator[tuple[str, str, int]]:
    """Yield the device, inode and page number of each file page that the process has in memory."""
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
