"""Items on the move: copies from store to store, comparisons, exports and imports.

`StoreCopy` copies tables and follows their changes, `TableComparison` compares them.
"""

from partita.transfer._checkpoint import CHECKPOINTS
from partita.transfer._copy import CopyOptions, TableCopy
from partita.transfer._pace import Pace
from partita.transfer._sides import Outside, Side
from partita.transfer._store_copy import StoreCopy, tables_of
from partita.transfer._units import Estimate, Prices, estimate
from partita.transfer._verify import Comparison, ItemDifference, TableComparison

__all__ = [
    "CHECKPOINTS",
    "Comparison",
    "CopyOptions",
    "Estimate",
    "ItemDifference",
    "Outside",
    "Pace",
    "Prices",
    "Side",
    "StoreCopy",
    "TableComparison",
    "TableCopy",
    "estimate",
    "tables_of",
]
