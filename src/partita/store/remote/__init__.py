"""The remote store: DynamoDB on AWS, or any other server that speaks its protocol."""

from partita._aws import Credentials, CredentialSource, GivenCredentials, Limits
from partita.store.remote._bulk import CancelBulk, DescribeBulk, StartBulkPut
from partita.store.remote._store import Outside, RemoteStore
from partita.store.remote._streams import pushed_record

__all__ = [
    "CancelBulk",
    "CredentialSource",
    "Credentials",
    "DescribeBulk",
    "GivenCredentials",
    "Limits",
    "Outside",
    "RemoteStore",
    "StartBulkPut",
    "pushed_record",
]
