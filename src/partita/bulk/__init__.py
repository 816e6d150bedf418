"""Bulk loads: any number of records into one table of an embedded store, with reports of rejected records.

`BulkLoad` writes records in large transactions and keeps a journal in the store, so that a load that was killed resumes
without duplicate or lost records, and its reports are exact.
"""

from partita.bulk._journal import JOURNAL, BulkJournal, Progress
from partita.bulk._load import BulkInput, BulkLoad, Record, Unreadable
from partita.bulk._lock import load_lock
from partita.bulk._reports import CONDITION, ERROR, ReportKind

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
    "load_lock",
]
