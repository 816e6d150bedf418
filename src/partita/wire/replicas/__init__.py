"""Global tables: there are none here, and the operations say so as AWS says it of a table that has no replicas."""

from partita.wire.replicas._global_tables import OPERATIONS

__all__ = ["OPERATIONS"]
