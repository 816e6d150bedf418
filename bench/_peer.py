"""The other side of the comparisons: boto3 with a local server in a separate process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from tests.referee import Referee, ministack

from bench._model import fill
from bench.imports import SETTINGS
from partita import Session


@contextmanager
def boto3_client(folder: Path, tasks: int) -> Iterator[Any]:
    """A client of a server that is filled with the first tasks."""
    with ministack(folder) as endpoint:
        referee = Referee(endpoint)
        fill(Session(referee), tasks)
        referee.close()
        client = boto3.client("dynamodb", endpoint_url=endpoint, **SETTINGS)
        yield client
        client.close()
