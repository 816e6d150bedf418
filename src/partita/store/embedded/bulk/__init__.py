"""Many puts in one transaction, each with its own outcome."""

from partita.store.embedded.bulk._load import BulkPut, LoadItems, LoadResponse, RejectedPut, load_items

__all__ = ["BulkPut", "LoadItems", "LoadResponse", "RejectedPut", "load_items"]
