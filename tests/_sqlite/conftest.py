"""The fixtures of the embedded store's tests: group commit is tested through that store, as users meet it."""

from tests.store.embedded.conftest import clock, open_store, path, store

__all__ = ["clock", "open_store", "path", "store"]
