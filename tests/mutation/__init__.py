"""Planted faults: rules of the services and of the core are changed one at a time, and the tests must notice.

`python -m tests.mutation` plants them; `docs/planted-faults.md` has the results.
"""
