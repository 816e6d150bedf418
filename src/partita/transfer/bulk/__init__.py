"""Bulk loads: records of any number into one table of an embedded store, with reports of what was not written.

`BulkLoad` writes records in large transactions and keeps a journal in the store, so that a load that was killed goes on
with nothing twice, nothing lost, and exact reports.
"""

from partita.transfer.bulk._files import csv_records, jsonl_records, typed_records
from partita.transfer.bulk._journal import JOURNAL, BulkJournal, Progress
from partita.transfer.bulk._load import BulkInput, BulkLoad, Record, Unreadable
from partita.transfer.bulk._lock import load_lock
from partita.transfer.bulk._reports import CONDITION, ERROR, ReportKind

__all__ = [
    "CONDITION",
    "ERROR",
    "JOURNAL",
    "BulkInput",
    "BulkJournal",
    "BulkLoad",
    "Progress",
    "Record",
    "ReportKind",
    "Unreadable",
    "csv_records",
    "jsonl_records",
    "load_lock",
    "typed_records",
]
