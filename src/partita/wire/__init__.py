"""DynamoDB's own protocol, served over a store, so that any DynamoDB tool can open it."""

from partita.wire._server import Limits, WireServer
from partita.wire._signature import AccessKey

__all__ = ["AccessKey", "Limits", "WireServer"]
