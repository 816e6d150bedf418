"""Contributor insights: they can be enabled and described, but nothing is counted."""

from __future__ import annotations

from typing import Final

import msgspec

from partita.runtime import Clock
from partita.store import Json, ListTables, TableDescription
from partita.wire._faults import not_found
from partita.wire._parameters import MIN_NAME, Operation, Parameters, Requests, refuse, violated
from partita.wire.tables._existing import existing
from partita.wire.tables._settings import OWN, Insights, is_own, keep_settings, read_settings

_ACTIONS: Final = ("ENABLE", "DISABLE")
_MODES: Final = ("ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS")
_MAX_LISTED: Final = 100


class ContributorInsights:
    """The operations; `clock` gives the times of changes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {
            "UpdateContributorInsights": self.update,
            "DescribeContributorInsights": _describe,
            "ListContributorInsights": _list,
        }

    def update(self, call: Parameters) -> Requests[Json]:
        """Enable or disable insights for a table or a global index."""
        action = call.choice("ContributorInsightsAction", _ACTIONS)
        mode = call.choice("ContributorInsightsMode", _MODES)
        if action is None:
            refuse(violated(None, "contributorInsightsAction", "Member must not be null"))
        description, index = yield from _named(call)
        name, enabled = description.schema.name, action == "ENABLE"
        settings = yield from read_settings(name)
        before = settings.insights.get(index)
        wanted = mode or (_MODES[0] if enabled or before is None else before.mode)
        body = _names(name, index)
        if (before is not None and before.enabled) == enabled and (before is None or before.mode == wanted):
            return body | {"ContributorInsightsStatus": "ENABLED" if enabled else "DISABLED"}
        insights = settings.insights | {index: Insights(enabled, wanted, int(self._clock() * 1000))}
        yield from keep_settings(name, msgspec.structs.replace(settings, insights=insights))
        status = "ENABLING" if enabled else "DISABLING"
        return body | {"ContributorInsightsStatus": status, "ContributorInsightsMode": wanted}


def _named(call: Parameters) -> Requests[tuple[TableDescription, str]]:
    """The table, and the name of the index, or `OWN` for the table itself."""
    table, index = call.table(), call.text("IndexName")
    if index is None:
        index = OWN
    elif len(index) < MIN_NAME:
        refuse(violated(index, "indexName", f"Member must have length greater than or equal to {MIN_NAME}"))
    description: TableDescription = yield from existing(table)
    found = description.schema.index(index)
    if index != OWN and (found is None or found.local):
        raise not_found(f"Index: {index}")
    return description, index


def _names(table: str, index: str) -> Json:
    return {"TableName": table} if index == OWN else {"TableName": table, "IndexName": index}


def _describe(call: Parameters) -> Requests[Json]:
    description, index = yield from _named(call)
    name = description.schema.name
    settings = yield from read_settings(name)
    found = settings.insights.get(index)
    body = _names(name, index)
    if found is None:
        return body | {"ContributorInsightsStatus": "DISABLED"}
    body |= {
        "ContributorInsightsStatus": "ENABLED" if found.enabled else "DISABLED",
        "ContributorInsightsMode": found.mode,
        "LastUpdateDateTime": found.at / 1000,
    }
    if found.enabled:
        body["ContributorInsightsRuleList"] = _rules(description, index, found)
    return body


def _rules(description: TableDescription, index: str, insights: Insights) -> list[str]:
    """The rules that AWS would create: for partition keys, and for sort keys if there are any."""
    schema = description.schema
    found = schema.index(index)
    has_range = bool(found.range) if found is not None else schema.range is not None
    kinds = "T" if insights.mode == "THROTTLED_KEYS" else "CT"
    resource = schema.name if found is None else f"{schema.name}-{index}"
    return [
        f"DynamoDBContributorInsights-{key}{kind}-{resource}-{insights.at}"
        for key in (("PK", "SK") if has_range else ("PK",))
        for kind in kinds
    ]


def _list(call: Parameters) -> Requests[Json]:
    """List the tables and indexes with insights enabled, page by page."""
    limit, start = call.page_size("MaxResults", _MAX_LISTED) or _MAX_LISTED, call.text("NextToken") or ""
    if call.text("TableName") is not None:
        description: TableDescription = yield from existing(call.table())
        names: tuple[str, ...] = (description.schema.name,)
    else:
        names = yield ListTables()
    found: list[tuple[str, str, Insights]] = []
    for name in names:
        if not is_own(name):
            settings = yield from read_settings(name)
            found += [(name, index, each) for index, each in sorted(settings.insights.items()) if each.enabled]
    left = [each for each in found if f"{each[0]}/{each[1]}" > start]
    body: Json = {
        "ContributorInsightsSummaries": [
            _names(name, index) | {"ContributorInsightsStatus": "ENABLED", "ContributorInsightsMode": each.mode}
            for name, index, each in left[:limit]
        ]
    }
    if len(left) > limit:
        body["NextToken"] = f"{left[limit - 1][0]}/{left[limit - 1][1]}"
    return body
