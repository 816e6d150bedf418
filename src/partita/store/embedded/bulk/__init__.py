"""Many puts in one transaction, each with an outcome of its own."""

from partita.store.embedded.bulk._load import BulkPut, LoadItems, LoadResponse, RejectedPut, load_items

__all__ = ["BulkPut", "LoadItems", "LoadResponse", "RejectedPut", "load_items"]
