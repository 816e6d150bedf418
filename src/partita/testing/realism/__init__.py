"""What DynamoDB does and a file does not, for tests that want to meet it: one switch each, all off, and seeded."""

from partita.testing.realism._settings import Realism, UnitLimits
from partita.testing.realism._store import RealisticStore

__all__ = ["Realism", "RealisticStore", "UnitLimits"]
