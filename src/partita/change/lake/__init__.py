"""The lake: Delta tables with every change and with the current items, and SQL over them. Needs the extra `lake`."""

from partita.change.lake._erasure import LakeErasure
from partita.change.lake._lake import Lake, lake_lag, lake_lags, lake_positions
from partita.change.lake._location import FolderLocation, LakeLocation, Place, location_of
from partita.change.lake._query import lake_tables, query_lake
from partita.change.lake._s3 import S3Location

__all__ = [
    "FolderLocation",
    "Lake",
    "LakeErasure",
    "LakeLocation",
    "Place",
    "S3Location",
    "lake_lag",
    "lake_lags",
    "lake_positions",
    "lake_tables",
    "location_of",
    "query_lake",
]
