"""Bulk operations: load items from bucket objects into a table, in the background of the server."""

from partita.wire.bulk._inputs import READERS, Compression, InputFormat, ObjectInput, check_extras
from partita.wire.bulk._operations import BulkOperations
from partita.wire.bulk._records import MAX_RECORD_BYTES, TOO_LONG
from partita.wire.bulk._runner import BulkRunner

__all__ = [
    "MAX_RECORD_BYTES",
    "READERS",
    "TOO_LONG",
    "BulkOperations",
    "BulkRunner",
    "Compression",
    "InputFormat",
    "ObjectInput",
    "check_extras",
]
