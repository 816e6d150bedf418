"""The embedded store."""

from partita.store.embedded._store import EmbeddedStore

__all__ = ["EmbeddedStore"]
