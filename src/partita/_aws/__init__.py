"""AWS over HTTP: credentials, signing, connections and retries, for the remote store and SQS."""

from partita._aws._attempts import Attempts, Call
from partita._aws._connections import HttpTransport
from partita._aws._credentials import Credentials, CredentialSource, source_of
from partita._aws._driver import Driver
from partita._aws._endpoints import ITEMS, QUEUES, STREAMS, Api, endpoints_at, endpoints_of_region, is_local
from partita._aws._failures import IteratorExpired
from partita._aws._loops import LoopTransport
from partita._aws._retry import CAP_SECONDS
from partita._aws._steps import Steps
from partita._aws._transport import AnswerLost, HttpAnswer, HttpCall, Limits, NotSent, Transport

__all__ = [
    "CAP_SECONDS",
    "ITEMS",
    "QUEUES",
    "STREAMS",
    "AnswerLost",
    "Api",
    "Attempts",
    "Call",
    "CredentialSource",
    "Credentials",
    "Driver",
    "HttpAnswer",
    "HttpCall",
    "HttpTransport",
    "IteratorExpired",
    "Limits",
    "LoopTransport",
    "NotSent",
    "Steps",
    "Transport",
    "endpoints_at",
    "endpoints_of_region",
    "is_local",
    "source_of",
]
