"""Exports of one table to a bucket, full or incremental, in the format of DynamoDB's export to S3."""

from partita.transfer.exports._lines import ExportFormat, change_line, item_line, require_format
from partita.transfer.exports._write import ExportResult, ExportTarget, write_export

__all__ = [
    "ExportFormat",
    "ExportResult",
    "ExportTarget",
    "change_line",
    "item_line",
    "require_format",
    "write_export",
]
