"""Processes share a stream whose shards are split, and are killed again and again: each change counts once."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.change.model import TABLE, play, session
from tests.change.shared.sinks import POLICY, belongs, open_sink, seen

from partita import EmbeddedStore, Session
from partita.change.shared import LEASES_TABLE, Membership, SharedConsumer
from partita.store import DescribeStream, ReadStream

ROOT = Path(__file__).parents[3]
PROCESSES, ROUNDS = 3, 4


def start(kind: str, store: Path, sink: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.change.shared.filling", kind, str(store), sink]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def recorded(kind: str, store: EmbeddedStore) -> Counter[tuple[str, int]]:
    """Each change that the stream has and the sink should have."""
    return Counter(
        (shard.id, record.sequence)
        for shard in store.execute(DescribeStream(TABLE.name)).shards
        for record in store.execute(ReadStream(TABLE.name, shard.id, limit=1_000)).records
        if belongs(kind, record.keys)
    )


@pytest.mark.req("T41")
@pytest.mark.parametrize("kind", ["projection", "lake"])
def test_kills_lose_and_repeat_nothing(kind: str, tmp_path: Path) -> None:
    rng = random.Random(11)
    path, sink = tmp_path / "store.db", str(tmp_path / "sink")
    with EmbeddedStore(path, durable=False) as store:
        session(store).create_tables([LEASES_TABLE])
        (first,) = store.execute(DescribeStream(TABLE.name)).shards
        store.split_shard(TABLE.name, first.id, 6)
        opened = open_sink(kind, sink)
        with SharedConsumer(store, TABLE, opened, Membership(Session(store), "group", "first", POLICY)) as consumer:
            consumer.catch_up()
        running = [start(kind, path, sink) for _ in range(PROCESSES)]
        for _ in range(ROUNDS):
            play(store, rng, 40)
            open_shards = [shard.id for shard in store.execute(DescribeStream(TABLE.name)).shards if not shard.closed]
            store.split_shard(TABLE.name, rng.choice(open_shards))
            victim = rng.randrange(PROCESSES)
            for _ in range(rng.randrange(1, 6)):
                assert running[victim].stdout.readline()  # type: ignore[union-attr]
            running[victim].kill()
            running[victim].communicate()
            running[victim] = start(kind, path, sink)
        for each in running:
            each.kill()
            each.communicate()
        play(store, rng, 40)
        membership = Membership(Session(store), "group", "last", POLICY)
        with SharedConsumer(store, TABLE, opened, membership) as consumer:
            consumer.catch_up()
        opened.close()
        assert seen(kind, sink) == recorded(kind, store)
