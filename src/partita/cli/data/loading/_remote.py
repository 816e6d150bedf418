"""Loading through a server: DynamoDB loads objects from S3 itself; local files are sent in batches."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

import click

from partita.bulk import CONDITION, ERROR, Progress
from partita.cli.data._copy import progress
from partita.cli.data.loading._embedded import loading
from partita.cli.data.loading._inputs import WIRE_FORMATS, compression_of, format_of
from partita.runtime import is_loopback, new_ulid
from partita.store import Json, Store
from partita.store.remote import DescribeBulk, RemoteStore, StartBulkPut
from partita.transfer import CopyOptions, Import, Side

POLL_SECONDS: Final = 5.0
LOCAL_POLL_SECONDS: Final = 0.2
_RUNNING: Final = ("IN_PROGRESS", "CANCELLING")


def load_remotely(
    store: Store, table: str, source: str, *, kind: str | None, reports: str | None, wcu: float | None
) -> None:
    """Call StartBulkPutItems, and follow its progress. Exit with 1 unless it completes without errors."""
    remote = cast("RemoteStore", store)
    parameters = _parameters(table, source, kind, reports, wcu)
    described = remote.execute(StartBulkPut(parameters))
    arn = described["BulkOperationArn"]
    click.echo(f"Started {arn}. It continues even if this command is stopped.")
    pause = LOCAL_POLL_SECONDS if is_loopback(urlsplit(remote.endpoint).hostname or "") else POLL_SECONDS
    while "TotalInputBytes" not in described and described["BulkOperationStatus"] in _RUNNING:
        time.sleep(pause)
        described = remote.execute(DescribeBulk(arn))
    with loading(described.get("TotalInputBytes", 1)) as show:
        while described["BulkOperationStatus"] in _RUNNING:
            show(Progress(processed=described["ProcessedItemCount"], read_bytes=described["ProcessedInputBytes"]))
            time.sleep(pause)
            described = remote.execute(DescribeBulk(arn))
    _say(described)


def _say(described: Json) -> None:
    status, failure = described["BulkOperationStatus"], described.get("FailureMessage")
    counts = f"{described['ProcessedItemCount']:,} records, {described['FailedItemCount']:,} failed"
    click.echo(f"{status}: {counts}." if failure is None else f"{status}: {counts}. {failure}")
    if status != "COMPLETED":
        raise click.exceptions.Exit(1)


def _parameters(table: str, source: str, kind: str | None, reports: str | None, wcu: float | None) -> Json:
    """Return the parameters of StartBulkPutItems.

    Raises:
        click.UsageError: no location for reports is given, or a server does not read the format.
    """
    bucket, prefix = _place(source)
    if reports is None:
        raise click.UsageError("A server writes reports to S3. Add --reports s3://BUCKET/PREFIX.")
    found = format_of(prefix, kind)
    if found not in WIRE_FORMATS:
        raise click.UsageError(f"A server reads {' and '.join(WIRE_FORMATS)}, not {found}.")
    output_bucket, output_prefix = _place(reports)
    parameters: Json = {
        "TableName": table,
        "ClientToken": new_ulid(),
        "InputS3Configuration": {
            "S3Bucket": bucket,
            "S3KeyPrefix": prefix,
            "InputFormat": WIRE_FORMATS[found],
            "InputCompressionType": compression_of(prefix),
        },
        "OutputS3Configuration": {
            "S3Bucket": output_bucket,
            "S3KeyPrefix": output_prefix,
            "OutputType": [ERROR, CONDITION],
        },
    }
    return parameters if wcu is None else parameters | {"MaxWriteRequestUnits": int(wcu)}


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or parts.query:
        raise click.UsageError(f"{url!r} is not s3://BUCKET/PREFIX.")
    return parts.netloc, parts.path.lstrip("/")


def load_files_remotely(side: Side, table: str, path: Path, *, wcu: float | None) -> None:
    """Send the items of one file in batches. They replace items with the same keys."""
    found = Import(path, table)
    with progress("Loading", found.items) as bar:
        found.run(side, owner=new_ulid(), options=CopyOptions(wcu=wcu), on_written=lambda items, _: bar(items))
    click.echo(f"{found.items:,} items written.")
