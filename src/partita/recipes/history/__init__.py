"""History: write-once versions of a thing, exactly one of which is open, and each of which can be queried by time."""

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
