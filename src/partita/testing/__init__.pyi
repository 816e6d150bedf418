from partita.testing._budget import assert_budget
from partita.testing._clock import FakeClock
from partita.testing._faults import Crash, FaultyStore
from partita.testing._ids import counted_ulids
from partita.testing._prepared import PreparedStore
from partita.testing.realism import Realism, RealisticStore, UnitLimits

__all__ = [
    "Crash",
    "FakeClock",
    "FaultyStore",
    "PreparedStore",
    "Realism",
    "RealisticStore",
    "UnitLimits",
    "assert_budget",
    "counted_ulids",
]
