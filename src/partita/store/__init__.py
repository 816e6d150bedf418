"""The store interface, and the requests and responses that pass through it."""

from partita.store import _requests as requests
from partita.store._interface import Store
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema

__all__ = ["IndexSchema", "KeyAttribute", "Store", "TableSchema", "requests"]
