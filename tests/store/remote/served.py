"""Our own client, connected to our own server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.wire.support import serving

from partita import EmbeddedStore
from partita.store.remote import Credentials, RemoteStore


@contextmanager
def served(store: EmbeddedStore) -> Iterator[RemoteStore]:
    """Serve the store over DynamoDB's protocol while the block runs; yield a remote store on it."""
    with (
        serving(store) as (host, port),
        RemoteStore(f"http://{host}:{port}", credentials=Credentials("test", "test")) as remote,
    ):
        yield remote
