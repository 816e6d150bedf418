"""The lake: Delta tables with every change and with the current items, and SQL over them. Needs the extra `lake`."""

from partita.change.lake._erasure import LakeErasure
from partita.change.lake._lake import Lake, lake_lag
from partita.change.lake._query import lake_tables, query_lake

__all__ = ["Lake", "LakeErasure", "lake_lag", "lake_tables", "query_lake"]
