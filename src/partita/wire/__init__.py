"""Serves a store with DynamoDB's own protocol, so that any DynamoDB tool can use it."""

from partita.wire._execution import RegionStores
from partita.wire._server import WireServer
from partita.wire._signature import AccessKey
from partita.wire.connection import Limits

__all__ = ["AccessKey", "Limits", "RegionStores", "WireServer"]
