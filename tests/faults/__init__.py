"""Faults with real processes, files and disks: `python -m tests.faults`."""
