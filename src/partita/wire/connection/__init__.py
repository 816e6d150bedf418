"""Client connections: requests parsed from bytes, bodies within limits, responses in order."""

from partita.wire.connection._body import Body, ByteBudget, unpack
from partita.wire.connection._connection import Connection
from partita.wire.connection._connections import Connections
from partita.wire.connection._limits import Limits
from partita.wire.connection._reader import Head, HttpRequest, RequestReader

__all__ = [
    "Body",
    "ByteBudget",
    "Connection",
    "Connections",
    "Head",
    "HttpRequest",
    "Limits",
    "RequestReader",
    "unpack",
]
