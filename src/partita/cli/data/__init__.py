"""Commands on stored data: tables, sample data, backups, queues, change streams; and helpers for other commands."""

from partita.cli.data._cdc import POLICY, check_lake, filling, is_captured, reach_lake
from partita.cli.data._follow import build_projections, projecting, reading_projections
from partita.cli.data._lake import lake_option
from partita.cli.data._seed import begin_seeding, is_seeding, seed_service
from partita.cli.data._tables import diff

__all__ = [
    "POLICY",
    "begin_seeding",
    "build_projections",
    "check_lake",
    "diff",
    "filling",
    "is_captured",
    "is_seeding",
    "lake_option",
    "projecting",
    "reach_lake",
    "reading_projections",
    "seed_service",
]
