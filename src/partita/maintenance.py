"""Maintenance work: scans, which only a session made by `session.maintenance(reason)` runs."""

from partita.operations._scan import Scan, ScanItems, scan, scan_items

__all__ = ["Scan", "ScanItems", "scan", "scan_items"]
