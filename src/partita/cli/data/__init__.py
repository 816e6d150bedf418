"""Commands on what is stored: tables, sample data, backups, queues, change streams."""

from partita.cli.data._backup import backup
from partita.cli.data._branch import branch
from partita.cli.data._cdc import POLICY, cdc, filling, is_captured
from partita.cli.data._check import check
from partita.cli.data._compact import compact
from partita.cli.data._copy import copy
from partita.cli.data._files import export, import_
from partita.cli.data._follow import projecting, reading_projections
from partita.cli.data._lake import lake, lake_option
from partita.cli.data._personal import personal
from partita.cli.data._queue import queue
from partita.cli.data._restore import restore
from partita.cli.data._seed import begin_seeding, is_seeding, seed, seed_service
from partita.cli.data._sweep import sweep
from partita.cli.data._tables import diff, tables

__all__ = [
    "POLICY",
    "backup",
    "begin_seeding",
    "branch",
    "cdc",
    "check",
    "compact",
    "copy",
    "diff",
    "export",
    "filling",
    "import_",
    "is_captured",
    "is_seeding",
    "lake",
    "lake_option",
    "personal",
    "projecting",
    "queue",
    "reading_projections",
    "restore",
    "seed",
    "seed_service",
    "sweep",
    "tables",
]
