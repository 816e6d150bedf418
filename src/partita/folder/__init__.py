"""Consistent copies of a whole data folder: archives and branches."""

from partita.folder._archive import (
    ArchivedFile,
    Manifest,
    StepProgress,
    is_archive,
    stream_archive,
    unpacked,
    write_archive,
)
from partita.folder._branches import MAIN, Branch, Branches, current_folder
from partita.folder._copies import copy_databases, reflink
from partita.folder._files import DataFile, data_files
from partita.folder._replacement import finish_replacement, replace_files

__all__ = [
    "MAIN",
    "ArchivedFile",
    "Branch",
    "Branches",
    "DataFile",
    "Manifest",
    "StepProgress",
    "copy_databases",
    "current_folder",
    "data_files",
    "finish_replacement",
    "is_archive",
    "reflink",
    "replace_files",
    "stream_archive",
    "unpacked",
    "write_archive",
]
