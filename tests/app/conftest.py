"""The fixtures of the HTTP tests, which run a toy service in the real app."""

from tests.http.conftest import app, client, identity, session

__all__ = ["app", "client", "identity", "session"]
