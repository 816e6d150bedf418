"""For tests of programs that use Partita: a fake clock, faults on demand, and budgets as assertions.

The names are loaded on first use, because every pytest run imports this package for its plugin.
"""

from partita._late import late_names

_NAMES = {
    "_budget": ("assert_budget",),
    "_clock": ("FakeClock",),
    "_faults": ("Crash", "FaultyStore"),
    "_ids": ("counted_ulids",),
    "_prepared": ("PreparedStore",),
    "realism": ("Realism", "RealisticStore", "UnitLimits"),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
