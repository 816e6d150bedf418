"""Bulk operations, as far as they can be probed without a bucket that the endpoint reads."""

from __future__ import annotations

from tests.fidelity import Api, holds, probe, refused


@probe(rule=57, tier=2)
def bulk_operations_are_listed(api: Api) -> None:
    """The list may be empty."""
    holds(isinstance(api("ListBulkOperations").get("BulkOperations", []), list), "there is no list")


@probe(rule=57, tier=3)
def a_page_of_bulk_operations_has_at_most_25(api: Api) -> None:
    """A page size of 26 is refused."""
    refused(api, "ListBulkOperations", MaxResults=26)
