"""What a client accepts."""

from __future__ import annotations

import pytest

from partita.runtime import accepts_gzip


@pytest.mark.parametrize(
    ("header", "accepts"),
    [("", False), ("gzip", True), ("br, gzip", True), ("gzip;q=0", False), ("gzip; q=0.0", False), ("x-gzip2", False)],
)
def test_gzip_is_accepted_where_it_is_named_and_not_refused(header: str, accepts: bool) -> None:  # noqa: FBT001
    assert accepts_gzip(header) == accepts
