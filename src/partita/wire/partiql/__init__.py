"""PartiQL, as far as DynamoDB has it: statements read into trees, and the requests that they stand for."""

from partita.wire.partiql._operations import execute_statement
from partita.wire.partiql._together import batch_execute, execute_transaction

__all__ = ["batch_execute", "execute_statement", "execute_transaction"]
