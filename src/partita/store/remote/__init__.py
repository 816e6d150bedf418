"""The remote store: DynamoDB on AWS, and everything else that speaks its protocol."""

from partita._aws import Credentials, Limits
from partita.store.remote._store import Outside, RemoteStore

__all__ = ["Credentials", "Limits", "Outside", "RemoteStore"]
