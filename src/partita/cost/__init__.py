"""What an operation will do, what it should cost, and what it did cost."""

from partita.cost._explain import Explanation, explain
from partita.cost._measure import Measurement, measure

__all__ = [
    "Explanation",
    "Measurement",
    "explain",
    "measure",
]
