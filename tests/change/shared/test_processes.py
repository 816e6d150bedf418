"""Processes share a stream whose shards are split, and are killed repeatedly: each change counts once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.change.model import TABLE, play, session
from tests.change.shared.sinks import POLICY, belongs, open_sink, seen
from tests.template import Template

from partita import EmbeddedStore, Session
from partita.change.shared import LEASES_TABLE, Membership, SharedConsumer
from partita.store import DescribeStream, ReadStream

PROCESSES, ROUNDS = 3, 4


@pytest.fixture(scope="module")
def filling() -> Iterator[Template]:
    """The template from which processes that share the stream are forked."""
    with closing(Template("tests.change.shared.filling")) as template:
        yield template


def recorded(kind: str, store: EmbeddedStore) -> Counter[tuple[str, int]]:
    """Return the changes of the stream that the sink should have."""
    return Counter(
        (shard.id, record.sequence)
        for shard in store.execute(DescribeStream(TABLE.name)).shards
        for record in store.execute(ReadStream(TABLE.name, shard.id, limit=1_000)).records
        if belongs(kind, record.keys)
    )


@pytest.mark.req("T41")
@pytest.mark.parametrize("kind", ["projection", "lake"])
def test_kills_lose_and_repeat_nothing(kind: str, filling: Template, tmp_path: Path) -> None:
    rng = random.Random(11)
    path, sink = tmp_path / "store.db", str(tmp_path / "sink")
    with EmbeddedStore(path, durable=False) as store:
        session(store).create_tables([LEASES_TABLE])
        (first,) = store.execute(DescribeStream(TABLE.name)).shards
        store.split_shard(TABLE.name, first.id, 6)
        opened = open_sink(kind, sink)
        with SharedConsumer(store, TABLE, opened, Membership(Session(store), "group", "first", POLICY)) as consumer:
            consumer.catch_up()
        running = [filling.start(kind, str(path), sink) for _ in range(PROCESSES)]
        for _ in range(ROUNDS):
            play(store, rng, 40)
            open_shards = [shard.id for shard in store.execute(DescribeStream(TABLE.name)).shards if not shard.closed]
            store.split_shard(TABLE.name, rng.choice(open_shards))
            victim = rng.randrange(PROCESSES)
            for _ in range(rng.randrange(1, 6)):
                assert running[victim].stdout.readline()
            running[victim].kill()
            running[victim] = filling.start(kind, str(path), sink)
        for each in running:
            each.kill()
        play(store, rng, 40)
        membership = Membership(Session(store), "group", "last", POLICY)
        with SharedConsumer(store, TABLE, opened, membership) as consumer:
            consumer.catch_up()
        opened.close()
        assert seen(kind, sink) == recorded(kind, store)
