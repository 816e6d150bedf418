"""The remote store: DynamoDB on AWS, and everything else that speaks its protocol."""

from partita._aws import Credentials, CredentialSource, GivenCredentials, Limits
from partita.store.remote._store import Outside, RemoteStore

__all__ = ["CredentialSource", "Credentials", "GivenCredentials", "Limits", "Outside", "RemoteStore"]
