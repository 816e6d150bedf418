"""The toy service behind the real app, as the building blocks are tested with."""

from tests.http.conftest import app, client, identity, session

__all__ = ["app", "client", "identity", "session"]
