"""What an operation will do, its predicted cost, and its measured cost."""

from partita.cost._explain import Explanation, explain
from partita.cost._measure import Measurement, measure

__all__ = [
    "Explanation",
    "Measurement",
    "explain",
    "measure",
]
