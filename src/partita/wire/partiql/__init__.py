"""The PartiQL of DynamoDB: statements are parsed into trees and translated into requests."""

from partita.wire.partiql._operations import execute_statement
from partita.wire.partiql._together import batch_execute, execute_transaction

__all__ = ["batch_execute", "execute_statement", "execute_transaction"]
