"""Vector indexes of the embedded store: exact, as durable as the items, and current with writes of other processes."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray
from tests.store.embedded.support import Clock, OpenStore

from partita.errors import ExtraMissing, StoreDamaged, ValidationFailed
from partita.expressions import Path as ExpressionPath
from partita.store import (
    CreateTable,
    DeleteItem,
    Distance,
    KeyAttribute,
    PutItem,
    RestoreTable,
    SearchVectors,
    SetRecovery,
    TableSchema,
    VectorIndexSchema,
)
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems
from partita.store.embedded.vectors._matrix import Matrix

DISTANCES: tuple[Distance, ...] = ("COSINE", "EUCLIDEAN", "DOT_PRODUCT")
DIMENSIONS = 24
INDEXES = tuple(
    VectorIndexSchema(distance.lower(), "v", DIMENSIONS, distance, filters=(KeyAttribute("kind"),))
    for distance in DISTANCES
)
TABLE = TableSchema("notes", KeyAttribute("pk"), ttl="ends", vectors=INDEXES)
Floats = NDArray[np.float32]

WRITER = """
import sys
from partita.store import PutItem
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems
store = EmbeddedStore(sys.argv[1])
for number in range(10**6):
    store.execute(PutItem("notes", {"pk": f"new-{number}", "v": [number + 1] + [0] * 23, "kind": "a"}))
    print(number, flush=True)
"""


def vectors(count: int, seed: int = 7) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)


def item(key: str, vector: Floats, **attributes: Any) -> PutItem:
    return PutItem("notes", {"pk": key, "v": [Decimal(str(each)) for each in vector], **attributes})


def search(index: str, vector: Floats, top: int = 10, **equal: Any) -> SearchVectors:
    return SearchVectors("notes", index, tuple(map(float, vector)), top, tuple(equal.items()))


def found(store: EmbeddedStore, request: SearchVectors) -> list[tuple[str, float]]:
    return [(match["pk"], score) for match, score in store.execute(request).matches]


def exact(held: dict[str, Floats], distance: Distance, query: Floats, top: int) -> list[tuple[str, float]]:
    """Return the exact result, computed in 64-bit floats over all vectors; equal scores are in key order."""
    keys, rows, exactly = sorted(held), np.array([held[key] for key in sorted(held)], float), query.astype(float)
    if distance == "EUCLIDEAN":
        scores = np.sqrt(((rows - exactly) ** 2).sum(axis=1))
    else:
        scores = (rows * exactly).sum(axis=1)
        if distance == "COSINE":
            scores = 1 - scores / (np.linalg.norm(rows, axis=1) * np.linalg.norm(exactly))
    rounded = [float(np.float32(score)) for score in scores]
    sign = -1 if distance == "DOT_PRODUCT" else 1
    return sorted(zip(keys, rounded, strict=True), key=lambda pair: (sign * pair[1], pair[0]))[:top]


def assert_exact(store: EmbeddedStore, held: dict[str, Floats], query: Floats, top: int, **equal: Any) -> None:
    for distance in DISTANCES:
        expected = exact(held, distance, query, top)
        given = found(store, search(distance.lower(), query, top, **equal))
        assert [key for key, _ in given] == [key for key, _ in expected]
        assert [score for _, score in given] == pytest.approx([score for _, score in expected], abs=1e-6)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with EmbeddedStore(tmp_path / "vectors.db", durable=False) as store:
        store.execute(CreateTable(TABLE))
        yield store


def filled(store: EmbeddedStore, count: int) -> dict[str, Floats]:
    held = {f"k{number:04}": vector for number, vector in enumerate(vectors(count))}
    for number, (key, vector) in enumerate(held.items()):
        store.execute(item(key, vector, kind="ab"[number % 2]))
    return held


def test_a_search_gives_what_numpy_gives_over_everything(store: EmbeddedStore) -> None:
    held = filled(store, 400)
    for query in vectors(8, seed=8):
        assert_exact(store, held, query, 10)
        assert_exact(store, {key: held[key] for key in list(held)[::2]}, query, 5, kind="a")


def test_equal_scores_come_in_the_order_of_the_keys(store: EmbeddedStore) -> None:
    ones = np.ones(DIMENSIONS, np.float32)
    held = {f"k{number:02}": ones * (1 + number % 2) for number in (7, 3, 11, 0, 5, 2, 9, 4)}
    for key, vector in held.items():
        store.execute(item(key, vector))
    for top in (1, 3, 5, 8):
        assert_exact(store, held, ones, top)


def test_vectors_that_32_bits_barely_tell_apart_are_in_their_true_order(store: EmbeddedStore) -> None:
    base = vectors(1)[0]
    held = {f"k{number:03}": base * np.float32(1 + number * 2**-22) for number in range(200)}
    for key, vector in held.items():
        store.execute(item(key, vector))
    for distance in ("EUCLIDEAN", "DOT_PRODUCT"):
        given = found(store, search(distance.lower(), base, 20))
        assert given == exact(held, distance, base, 20)


@pytest.mark.req("X04")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distance", DISTANCES)
def test_vectors_whose_products_exceed_32_bits_neither_fail_nor_hide_others(distance: Distance) -> None:
    largest = float(np.finfo(np.float32).max)
    numbers = [0, 1, -1, 1e-25, 1e-40, 1e19, -1e20, 1e38, -largest, largest]
    rows = np.array([*itertools.product(numbers, repeat=2)], np.float32)
    matrix = Matrix(2, distance, 0)
    matrix.put([(number, row.astype("<f4").tobytes()) for number, row in enumerate(rows)])
    wide = rows.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1)
    for query, norm in zip(wide, norms, strict=True):
        products = (wide * query).sum(axis=1)
        scores = {
            "COSINE": np.clip(1 - products / np.where(norms * norm > 0, norms * norm, 1), 0, 2),
            "EUCLIDEAN": np.linalg.norm(wide - query, axis=1),
            "DOT_PRODUCT": products,
        }[distance]
        rounded = np.clip(scores, -largest, largest).astype(np.float32)
        best = np.sort(-rounded if distance == "DOT_PRODUCT" else rounded)[4]
        near = np.flatnonzero((-rounded if distance == "DOT_PRODUCT" else rounded) <= best)
        found, _ = matrix.nearest(query.tolist(), 5, ())
        assert dict(found) == {int(row): float(rounded[row]) for row in near}


@pytest.mark.rule(67)
def test_a_response_over_16_mb_is_refused_with_what_helps(store: EmbeddedStore) -> None:
    query, text = vectors(1)[0], "x" * 390_000
    for number in range(44):
        store.execute(item(f"k{number}", query, text=text))
    assert len(found(store, search("cosine", query, 43))) == 43
    with pytest.raises(ValidationFailed, match="Use a narrower projection or a smaller TopK"):
        store.execute(search("cosine", query, 44))
    narrow = replace(search("cosine", query, 44), projection=(ExpressionPath(("pk",)),))
    assert len(found(store, narrow)) == 44


def test_a_zero_vector_is_neither_near_nor_far(store: EmbeddedStore) -> None:
    store.execute(item("zero", np.zeros(DIMENSIONS, np.float32)))
    assert found(store, search("cosine", vectors(1)[0])) == [("zero", 1.0)]


def test_searches_follow_random_writes_of_two_stores(store: EmbeddedStore, tmp_path: Path) -> None:
    """The other store stands for another process: it shares only the file."""
    random, held = np.random.default_rng(3), filled(store, 40)
    with EmbeddedStore(tmp_path / "vectors.db", durable=False) as other:
        for step, vector in enumerate(vectors(60, seed=9)):
            key, writer = f"k{random.integers(60):04}", (store, other)[step % 2]
            if random.random() < 0.4:
                writer.execute(DeleteItem("notes", {"pk": key}))
                held.pop(key, None)
            else:
                writer.execute(item(key, vector, kind="a"))
                held[key] = vector
            assert_exact((store, other)[step // 2 % 2], held, vector, 7)
    store.verify()


def test_what_was_acknowledged_is_found_after_a_kill(store: EmbeddedStore, tmp_path: Path) -> None:
    store.close()
    path = tmp_path / "vectors.db"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(30)][-1]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged = max([acknowledged, *(int(line) for line in writer.stdout.read().splitlines() if line)])
    writer.wait()
    writer.stdout.close()
    query = np.zeros(DIMENSIONS, np.float32)
    query[0] = 1
    with EmbeddedStore(path) as again:
        again.verify()
        nearest = found(again, search("euclidean", query, 30))
        farthest = found(again, search("dot_product", query, 1))
    assert nearest == [(f"new-{number}", float(number)) for number in range(30)]
    assert int(farthest[0][0].removeprefix("new-")) >= acknowledged


def test_what_has_expired_leaves_the_index_when_it_is_deleted(open_store: OpenStore, clock: Clock) -> None:
    store = open_store()
    store.execute(CreateTable(TABLE))
    query = vectors(1)[0]
    store.execute(item("a", query, ends=int(clock.now) + 60))
    assert len(found(store, search("cosine", query))) == 1
    clock.now += 120
    store.sweep()
    assert found(store, search("cosine", query)) == []


def test_what_is_loaded_in_bulk_is_found(store: EmbeddedStore) -> None:
    held = {f"k{number}": vector for number, vector in enumerate(vectors(30))}
    short = BulkPut({"pk": "short", "v": [1]})
    puts = [*(BulkPut(item(key, vector).item) for key, vector in held.items()), short]
    response = store.execute(LoadItems("notes", puts))
    assert [each.position for each in response.rejected] == [30]
    assert_exact(store, held, vectors(1)[0], 5)
    store.verify()


def test_a_snapshot_searches_what_was_there(store: EmbeddedStore) -> None:
    query = vectors(1)[0]
    store.execute(item("old", query))
    with store.snapshot() as snapshot:
        store.execute(item("new", query))
        assert [match["pk"] for match, _ in snapshot.execute(search("cosine", query)).matches] == ["old"]
        assert [key for key, _ in found(store, search("cosine", query))] == ["new", "old"]
        assert [match["pk"] for match, _ in snapshot.execute(search("cosine", query)).matches] == ["old"]


def test_a_backup_has_the_vectors(store: EmbeddedStore, tmp_path: Path) -> None:
    held = filled(store, 20)
    store.backup(tmp_path / "copy.db")
    with EmbeddedStore(tmp_path / "copy.db") as copy:
        assert_exact(copy, held, vectors(1)[0], 5)


def test_an_index_that_disagrees_with_its_items_is_damage(store: EmbeddedStore) -> None:
    filled(store, 3)
    store._writer.connection.execute("DELETE FROM vectors_1 WHERE id = 2")
    with pytest.raises(StoreDamaged, match="vector index cosine differs from its item"):
        store.verify()


def test_a_search_without_the_extra_says_what_to_install(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(store, 2)  # writing does not need the extra
    monkeypatch.setitem(sys.modules, "partita.store.embedded.vectors._matrix", None)
    with pytest.raises(ExtraMissing, match=r"partita\[vectors\]") as caught:
        store.execute(search("cosine", vectors(1)[0]))
    assert (caught.value.code, caught.value.extra) == ("extra_missing", "vectors")


def test_tasks_search_without_holding_up_the_loop(store: EmbeddedStore) -> None:
    held = filled(store, 50)
    query = vectors(1, seed=4)[0]

    async def both() -> list[Any]:
        return await asyncio.gather(*(store.execute_async(search("cosine", query, 3)) for _ in range(4)))

    expected = [key for key, _ in exact(held, "COSINE", query, 3)]
    assert [[match["pk"] for match, _ in each.matches] for each in asyncio.run(both())] == [expected] * 4


def test_memory_is_what_the_vectors_take(store: EmbeddedStore) -> None:
    filled(store, 100)
    found(store, search("cosine", vectors(1)[0]))
    assert 100 * DIMENSIONS * 4 < store._vectors.memory_bytes < 100 * (DIMENSIONS * 4 * 1.25 + 200)


def test_a_table_that_is_restored_to_an_instant_has_its_vectors(store: EmbeddedStore) -> None:
    store.execute(SetRecovery("notes"))
    held = filled(store, 20)
    restored = replace(TABLE, name="restored")
    store.execute(RestoreTable("notes", restored))
    query = vectors(1, seed=5)[0]
    given = store.execute(replace(search("cosine", query, 5), table="restored")).matches
    assert [match["pk"] for match, _ in given] == [key for key, _ in exact(held, "COSINE", query, 5)]
    store.verify()
