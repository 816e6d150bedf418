"""Global tables are not supported: the operations respond as AWS does for a table without replicas."""

from partita.wire.replicas._global_tables import OPERATIONS

__all__ = ["OPERATIONS"]
