from partita.runtime._chunks import chunks
from partita.runtime._clock import Clock, system_clock
from partita.runtime._csv_rows import MAX_CSV_CELL, csv_rows
from partita.runtime._disk import disk_error, sync, try_disk
from partita.runtime._encodings import accepts_gzip
from partita.runtime._hosts import AllowedHosts, is_loopback
from partita.runtime._ids import RANDOM_BITS, Ulids, new_ulid
from partita.runtime._outage_log import OutageLog
from partita.runtime._pace import Pace
from partita.runtime._private_files import (
    close_to_others,
    create_private,
    make_private_folder,
    open_private,
    protecting_command,
    write_private,
)
from partita.runtime._relay import Blocking, Pause, in_thread, relay, run, run_async, run_some
from partita.runtime._retry import RetryPolicy
from partita.runtime._together import Together
from partita.runtime._warning import warn

__all__ = [
    "MAX_CSV_CELL",
    "RANDOM_BITS",
    "AllowedHosts",
    "Blocking",
    "Clock",
    "OutageLog",
    "Pace",
    "Pause",
    "RetryPolicy",
    "Together",
    "Ulids",
    "accepts_gzip",
    "chunks",
    "close_to_others",
    "create_private",
    "csv_rows",
    "disk_error",
    "in_thread",
    "is_loopback",
    "make_private_folder",
    "new_ulid",
    "open_private",
    "protecting_command",
    "relay",
    "run",
    "run_async",
    "run_some",
    "sync",
    "system_clock",
    "try_disk",
    "warn",
    "write_private",
]
