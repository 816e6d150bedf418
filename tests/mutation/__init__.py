"""Planted faults: the rules of the services are changed one at a time, and the tests have to notice.

`python -m tests.mutation` runs it; `docs/testing.md` says what it found.
"""
