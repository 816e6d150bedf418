"""Opening buckets by their address, as given to `--buckets`."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from partita.buckets._folder import FolderBuckets
from partita.buckets._interface import Buckets
from partita.errors import OperationError

_OPTIONS: Final = frozenset(("endpoint", "profile", "region"))
_HINT: Final = "Use the path of a folder, or s3://, optionally with ?endpoint=URL&region=NAME&profile=NAME."


def open_buckets(address: str) -> Buckets:
    """The buckets at an address: the path of a folder, or `s3://?endpoint=http://127.0.0.1:9000`.

    Raises:
        OperationError: the address is invalid, the folder does not exist, or the extra `aws` is not installed.
    """
    if "://" not in address:
        if not Path(address).is_dir():
            raise OperationError(f"There is no folder {address}.", hint="Create it, with a subfolder for each bucket.")
        return FolderBuckets(Path(address))
    parts = urlsplit(address)
    options = parse_qs(parts.query, keep_blank_values=True)
    unknown = options.keys() - _OPTIONS or [name for name, values in options.items() if len(values) > 1]
    if parts.scheme != "s3" or unknown or parts.fragment:
        raise OperationError(f"{address!r} is not a valid address of buckets.", hint=_HINT)
    from partita.buckets.s3 import S3Buckets  # noqa: PLC0415 - loads the AWS client only when it is needed

    given = {name: values[0] or None for name, values in options.items()}
    return S3Buckets(endpoint=given.get("endpoint"), region=given.get("region"), profile=given.get("profile"))
