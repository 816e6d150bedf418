"""Exports of tables to buckets and imports from buckets, in the background of the server."""

from partita.wire.exports._exports import Exports
from partita.wire.exports._imports import Imports
from partita.wire.exports._runner import JobRunner

__all__ = ["Exports", "Imports", "JobRunner"]
