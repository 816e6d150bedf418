"""SQLite files shared by threads and processes: the database file, the process lock, group commit, commit notices."""

from partita._sqlite._checksums import add_checksums, seal_pages
from partita._sqlite._commit_notice import CommitNotice
from partita._sqlite._database_file import (
    MEMORY,
    FileHeader,
    connect,
    erase_log,
    file_number,
    make_private,
    open_database,
    path_text,
    read_header,
    refuse_moved,
)
from partita._sqlite._errors import (
    DATABASE_ERRORS,
    closed,
    is_damage,
    moved,
    opened_before_fork,
    translated,
    translating,
)
from partita._sqlite._file_system import file_system, reserve
from partita._sqlite._fork import close_untouched, leave_to_parent_at_fork, refuse_if_in_use_at_fork
from partita._sqlite._group_commit import GroupCommit
from partita._sqlite._log_damage import refuse_cut_log
from partita._sqlite._pending_write import PendingWrite
from partita._sqlite._process_lock import NoLock, ProcessLock, lock_beside
from partita._sqlite._transaction import Handler, Writer

__all__ = [
    "DATABASE_ERRORS",
    "MEMORY",
    "CommitNotice",
    "FileHeader",
    "GroupCommit",
    "Handler",
    "NoLock",
    "PendingWrite",
    "ProcessLock",
    "Writer",
    "add_checksums",
    "close_untouched",
    "closed",
    "connect",
    "erase_log",
    "file_number",
    "file_system",
    "is_damage",
    "leave_to_parent_at_fork",
    "lock_beside",
    "make_private",
    "moved",
    "open_database",
    "opened_before_fork",
    "path_text",
    "read_header",
    "refuse_cut_log",
    "refuse_if_in_use_at_fork",
    "refuse_moved",
    "reserve",
    "seal_pages",
    "translated",
    "translating",
]
