"""Behaviours of DynamoDB that a local file lacks, for tests: one switch for each, all off by default, and seeded."""

from partita.testing.realism._settings import Realism, UnitLimits
from partita.testing.realism._store import RealisticStore

__all__ = ["Realism", "RealisticStore", "UnitLimits"]
