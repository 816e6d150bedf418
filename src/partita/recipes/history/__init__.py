"""History: write-once versions of a thing, of which exactly one is open, and any of which can be asked for by time."""

from partita.recipes.history._history import UNWRITTEN, FieldDifference, History, Planning, Revision, as_of, differences

__all__ = [
    "UNWRITTEN",
    "FieldDifference",
    "History",
    "Planning",
    "Revision",
    "as_of",
    "differences",
]
