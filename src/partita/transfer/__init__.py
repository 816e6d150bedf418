"""Moving items: copies from store to store, comparisons, exports and imports.

`StoreCopy` copies tables and follows their changes, and `TableComparison` compares them. `export_tables` writes tables
to files, and `Import` reads such files.
"""

from partita.transfer._checkpoint import CHECKPOINTS
from partita.transfer._copy import CopyOptions, TableCopy
from partita.transfer._export import export_tables
from partita.transfer._import import Import
from partita.transfer._manifest import DataFile, ExportedTable, Format, Manifest
from partita.transfer._mask import Mask, PersonalMask
from partita.transfer._records import csv_records, jsonl_records, typed_records
from partita.transfer._sample import Sample, copy_sample
from partita.transfer._sides import Outside, Side
from partita.transfer._store_copy import StoreCopy, tables_of
from partita.transfer._units import Estimate, Prices, estimate
from partita.transfer._verify import Comparison, ItemDifference, TableComparison

__all__ = [
    "CHECKPOINTS",
    "Comparison",
    "CopyOptions",
    "DataFile",
    "Estimate",
    "ExportedTable",
    "Format",
    "Import",
    "ItemDifference",
    "Manifest",
    "Mask",
    "Outside",
    "PersonalMask",
    "Prices",
    "Sample",
    "Side",
    "StoreCopy",
    "TableComparison",
    "TableCopy",
    "copy_sample",
    "csv_records",
    "estimate",
    "export_tables",
    "jsonl_records",
    "tables_of",
    "typed_records",
]
