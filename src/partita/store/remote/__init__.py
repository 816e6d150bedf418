"""The remote store: DynamoDB on AWS, and everything else that speaks its protocol."""

from partita.store.remote._credentials import Credentials
from partita.store.remote._store import Outside, RemoteStore
from partita.store.remote._transport import Limits

__all__ = ["Credentials", "Limits", "Outside", "RemoteStore"]
