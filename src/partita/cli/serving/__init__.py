"""Commands that serve: the services, their workers, and DynamoDB's own protocol."""

from partita.cli.serving._dynamodb import dynamodb
from partita.cli.serving._serve import serve
from partita.cli.serving._token import token
from partita.cli.serving._tokens import tokens
from partita.cli.serving._worker import worker

__all__ = [
    "dynamodb",
    "serve",
    "token",
    "tokens",
    "worker",
]
