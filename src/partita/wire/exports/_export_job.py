"""Runs an export: writes the items of a table at an instant, or its changes since another one, to a bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from partita.buckets import Buckets
from partita.expressions import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    KeyCondition,
    KeyRange,
    Path,
    Value,
    evaluate,
    project,
)
from partita.runtime import Clock
from partita.store import Json
from partita.store.embedded import EmbeddedStore, NetChange
from partita.values import Item, decode_item, item_size
from partita.wire._describe import table_arn
from partita.wire._expressions import read_expressions
from partita.wire._parameters import Parameters
from partita.wire.background import bucket_encryption
from partita.wire.exports._jobs import Job

KINDS = ("FilterExpression", "KeyConditionExpression", "ProjectionExpression")


class ItemFilter:
    """Selects the exported items, and their exported attributes."""

    def __init__(self, given: Json | None) -> None:
        trees = read_expressions(Parameters(given or {}), KINDS)
        self._key: KeyCondition | None = trees["KeyConditionExpression"]
        self._filter, self._projection = trees["FilterExpression"], trees["ProjectionExpression"]

    def takes(self, item: Item) -> bool:
        """Whether an item is exported."""
        if self._key is not None and not _fits(self._key, item):
            return False
        return self._filter is None or evaluate(self._filter, item)

    def shown(self, item: Item) -> Item:
        """The exported part of an item."""
        return item if self._projection is None else project(self._projection, item)


def _fits(key: KeyCondition, item: Item) -> bool:
    terms: list[Condition] = [Compare("=", Path((name,)), Value(value)) for name, value in key.equal]
    if key.range is not None:
        terms.append(_in_range(key.range))
    return evaluate(And(tuple(terms)), item)


def _in_range(part: KeyRange) -> Condition:
    path, values = Path((part.name,)), [Value(value) for value in part.values]
    if part.op == "BETWEEN":
        return Between(path, *values)
    return BeginsWith(path, values[0]) if part.op == "BEGINS_WITH" else Compare(part.op, path, values[0])


def run_export(store: EmbeddedStore, buckets: Buckets, job: Job, clock: Clock) -> Job:
    """Write the export; return the job with its counts.

    Raises:
        PartitaError: the bucket cannot be written, or the history does not reach back far enough.
    """
    from partita.transfer.exports import ExportTarget, write_export  # noqa: PLC0415 - importing it loads models

    asked, region = job.asked, job.asked["Region"]
    since = asked.get("ExportFromTime")
    target = ExportTarget(
        asked["S3Bucket"], asked.get("S3Prefix") or "", job.id, asked["ExportFormat"], bucket_encryption(asked)
    )
    select = ItemFilter(asked.get("FilterSpecification"))
    with store.history.table_at(job.table, asked["ExportTime"]) as past:
        names = [part.name for part in past.schema.key]
        if since is None:
            lines = _items(past.blobs(), select, asked)
        else:
            with_old = asked["ExportViewType"] == "NEW_AND_OLD_IMAGES"
            changes = past.changes_since(since)
            lines = _changes(changes, select, asked, lambda item: {name: item[name] for name in names}, with_old)
        schema = replace(past.schema, stream=None)
        written = write_export(buckets, target, lines, lambda: _summary(job, region, clock()), schema)
    return replace(job, items=written.items, bytes=written.size, manifest=written.manifest)


def _items(blobs: Iterator[bytes], select: ItemFilter, asked: Json) -> Iterator[tuple[bytes, int]]:
    from partita.transfer.exports import item_line  # noqa: PLC0415 - importing it loads models

    for blob in blobs:
        item = decode_item(blob)
        if select.takes(item):
            yield item_line(select.shown(item), asked["ExportFormat"]), item_size(item)


def _changes(
    changes: Iterator[NetChange],
    select: ItemFilter,
    asked: Json,
    keys: Callable[[Item], Item],
    with_old: bool,  # noqa: FBT001 - a private function
) -> Iterator[tuple[bytes, int]]:
    from partita.transfer.exports import change_line  # noqa: PLC0415 - importing it loads models

    for change in changes:
        known = decode_item(change.image)
        new = None if change.new is None else decode_item(change.new)
        old = None if change.old is None else decode_item(change.old)
        matched = new or old or known
        if select.takes(matched):
            shown_old = select.shown(old) if with_old and old is not None else None
            shown_new = None if new is None else select.shown(new)
            line = change_line(keys(known), shown_old, shown_new, change.at, asked["ExportFormat"])
            yield line, item_size(matched)


def _summary(job: Job, region: str, now: float) -> Json:
    asked = job.asked
    body: dict[str, Any] = {
        "version": "2020-06-30",
        "exportArn": f"{table_arn(region, job.table)}/export/{job.id}",
        "startTime": _time(job.started / 1000),
        "endTime": _time(now),
        "tableArn": table_arn(region, job.table),
        "tableId": job.table_id,
        "exportTime": _time(asked["ExportTime"]),
        "s3SseAlgorithm": asked.get("S3SseAlgorithm"),
        "s3SseKmsKeyId": asked.get("S3SseKmsKeyId"),
        "exportType": asked["ExportType"],
    }
    if "ExportFromTime" in asked:
        body |= {
            "version": "2023-08-01",
            "exportFromTime": _time(asked["ExportFromTime"]),
            "exportToTime": _time(asked["ExportTime"]),
            "outputView": asked["ExportViewType"],
        }
        del body["exportTime"]
    return body


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
