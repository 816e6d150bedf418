"""What starting costs: importing the library, and importing boto3 to make a client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench._compare import Bar, Comparison, Side, compare
from bench._peer import SETTINGS

PACKAGE = "import partita"
NAMES = "from partita import EmbeddedStore, Entity, Session"  # names load when they are asked for
FUNCTION = "import partita.functions, partita_services.todo.bootstrap"  # before a handler is made
HTTP = (  # all that a function loads before its first request
    "import partita.functions._handlers, partita_services.todo.http, partita.app; "
    "from partita.store.remote import Credentials, RemoteStore; "
    "RemoteStore('https://dynamodb.eu-west-1.amazonaws.com', credentials=Credentials('a', 'b'))"
)
BOTO3 = f"import boto3; boto3.client('dynamodb', **{SETTINGS!r})"


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    theirs = _seconds(BOTO3, folder)
    yield compare(
        "import partita, to boto3 with a client", Bar("at most", 0.5), _seconds(PACKAGE, folder), theirs, repetitions=11
    )
    yield compare(
        "import all that a model needs, to boto3", Bar("at most", 1), _seconds(NAMES, folder), theirs, repetitions=11
    )

    yield compare(
        "import a function for messages, to boto3",
        Bar("at most", 1.5),
        _seconds(FUNCTION, folder),
        theirs,
        repetitions=11,
    )
    yield compare(
        "import a function for requests, to boto3", Bar("at most", 4), _seconds(HTTP, folder), theirs, repetitions=11
    )


def _seconds(code: str, folder: Path) -> Side:
    timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"

    def measure() -> float:
        ended = subprocess.run(
            [sys.executable, "-I", "-c", timed], cwd=folder, check=True, capture_output=True, text=True
        )
        return float(ended.stdout)

    return measure
