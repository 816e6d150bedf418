"""A process that fills a lake until it is killed, and prints a line for each batch.

python -m tests.change.lake.filling STORE LAKE
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.change.model import TABLE

from partita import EmbeddedStore
from partita.change import Consumer
from partita.change.lake import Lake


def main(store: str, lake: str) -> None:
    """Fill the lake in small batches, for ever."""
    consumer = Consumer(EmbeddedStore(store), TABLE, Lake(Path(lake), TABLE), batch=20)
    while True:
        print(consumer.step(), flush=True)  # noqa: T201 - whoever kills it reads this


if __name__ == "__main__":
    main(*sys.argv[1:])
