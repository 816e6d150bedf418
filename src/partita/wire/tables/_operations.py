"""All operations on tables, by their DynamoDB name."""

from __future__ import annotations

from partita.runtime import Clock
from partita.wire._parameters import Operation
from partita.wire.tables import _expiry, _kinesis, _tags
from partita.wire.tables._account import LIMITS, fixed
from partita.wire.tables._backups import Backups
from partita.wire.tables._insights import ContributorInsights
from partita.wire.tables._policies import ResourcePolicies
from partita.wire.tables._table_backups import TableBackups
from partita.wire.tables._tables import Tables


def table_operations(clock: Clock, address: str) -> dict[str, Operation]:
    """The operations; `address` is the address of the server."""
    return {
        **Tables(clock).operations(),
        "UpdateTimeToLive": _expiry.update_time_to_live,
        "DescribeTimeToLive": _expiry.describe_time_to_live,
        "TagResource": _tags.tag_resource,
        "UntagResource": _tags.untag_resource,
        "ListTagsOfResource": _tags.list_tags,
        **Backups(clock).operations(),
        **TableBackups(clock).operations(),
        **ContributorInsights(clock).operations(),
        **_kinesis.OPERATIONS,
        **ResourcePolicies(clock).operations(),
        "DescribeLimits": fixed(LIMITS),
        "DescribeEndpoints": fixed({"Endpoints": [{"Address": address, "CachePeriodInMinutes": 1440}]}),
    }
