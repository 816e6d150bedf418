"""Planted faults: rules of the services and of the core are changed one at a time, and the tests have to notice.

`python -m tests.mutation` runs it; `docs/planted-faults.md` says what it found.
"""
