"""Background work that requests start: threads, locks, names, page tokens and failure codes."""

from partita.wire.background._buckets import SEE_LOG, UNEXPECTED, bucket_encryption, failure_code
from partita.wire.background._names import MAX_LISTED, TOKEN_MILLISECONDS, named_by_token, new_name, page_token
from partita.wire.background._runner import Runner
from partita.wire.background._threads import WAIT_SECONDS, Background, Work

__all__ = [
    "MAX_LISTED",
    "SEE_LOG",
    "TOKEN_MILLISECONDS",
    "UNEXPECTED",
    "WAIT_SECONDS",
    "Background",
    "Runner",
    "Work",
    "bucket_encryption",
    "failure_code",
    "named_by_token",
    "new_name",
    "page_token",
]
