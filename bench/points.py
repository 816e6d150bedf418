"""Restores to random instants of a random history, compared with a replay of that history; optionally with kills.

python -m bench.points                     # 1,000 instants of 20,000 steps, and the size of the change log
python -m bench.points --kills 20          # also for processes that are killed in the middle of their history
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from partita import EmbeddedStore
from partita.expressions import Substitutions, parse_update
from partita.store import (
    BatchWriteItem,
    CreateTable,
    DeleteItem,
    DeleteTable,
    DescribeRecovery,
    GetItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    RestoreTable,
    ScanTable,
    SetRecovery,
    Store,
    TableSchema,
    TransactWriteItems,
    UpdateItem,
)
from partita.store.embedded import BulkPut, LoadItems
from partita.values import Item, encode_item

TABLE: Final = TableSchema(
    "readings",
    KeyAttribute("place"),
    KeyAttribute("number", "N"),
    (IndexSchema("by_kind", (KeyAttribute("kind"),)),),
    ttl="expires",
)
BEGIN: Final = 1_800_000_000.0
EXACT: Final = 3_600.0
"""Instants within this many seconds (an hour) are exact; older ones are rounded down to the second."""
RECORD_BYTES: Final = 64
"""The maximum size of a record of the change log, without the old image and the key."""
PAGE: Final = 4_096
PAUSES: Final = (0.0, 0.0, 0.001, 0.001, 0.02, 0.02, 0.3, 1.0, 1.7, 60.0)

Key = tuple[str, int]
Change = tuple[float, Key, Item | None]


class Step(Struct, frozen=True):
    """One step of a history: its time, the executed request (None: a sweep), and the resulting changes."""

    at: float
    request: Any
    changes: tuple[Change, ...]


class Clock:
    """A clock that a history sets."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> float:
        return self.now


def steps(seed: int, keys: int = 200) -> Iterator[Step]:
    """An endless random history: puts, updates, deletes, batches, transactions, and sweeps of expired items."""
    rng, now = random.Random(seed), BEGIN
    state: dict[Key, Item] = {}
    while True:
        now = round(now + rng.choice(PAUSES), 6)
        step = _step(rng, now, state, keys)
        for _, key, item in step.changes:
            state.pop(key, None) if item is None else state.__setitem__(key, item)
        yield step


def _step(rng: random.Random, now: float, state: dict[Key, Item], keys: int) -> Step:
    kind = rng.choices(("put", "update", "delete", "batch", "transaction", "sweep"), (50, 20, 12, 8, 8, 2))[0]
    if kind == "sweep":
        gone = [key for key, item in state.items() if "expires" in item and item["expires"] <= now]
        return Step(now, None, tuple((now, key, None) for key in gone))
    if kind == "update":
        key = _key(rng, keys)
        value = rng.randrange(10**6)
        update = parse_update("SET amount = :a", Substitutions({}, {":a": value}))
        item = {**state.get(key, _named(key)), "amount": value}
        return Step(now, UpdateItem(TABLE.name, _named(key), update), ((now, key, item),))
    writes = {}
    for _ in range(1 if kind in ("put", "delete") else rng.randint(2, 8)):
        key = _key(rng, keys)
        writes[key] = None if kind == "delete" or rng.random() < 0.2 else _item(rng, key, now)
    requests = tuple(
        DeleteItem(TABLE.name, _named(key)) if item is None else PutItem(TABLE.name, item)
        for key, item in writes.items()
    )
    if kind in ("put", "delete"):
        request: Any = requests[0]
    else:
        request = BatchWriteItem(requests) if kind == "batch" else TransactWriteItems(requests)
    return Step(now, request, tuple((now, key, item) for key, item in writes.items()))


def _key(rng: random.Random, keys: int) -> Key:
    number = int(keys * rng.random() ** 3)  # some items change often
    return f"place {number % 7}", number


def _named(key: Key) -> Item:
    return {"place": key[0], "number": key[1]}


def _item(rng: random.Random, key: Key, now: float) -> Item:
    item: Item = {**_named(key), "kind": rng.choice("abc"), "text": "x" * rng.randrange(300)}
    if rng.random() < 0.1:
        item["expires"] = int(now + rng.choice((1, 10, 500)))
    return item


def run_step(store: EmbeddedStore, clock: Clock, step: Step) -> None:
    """Execute one step of a history."""
    clock.now = step.at
    if step.request is None:
        store.sweep()
    else:
        store.execute(step.request)


def begun(path: Path, clock: Clock, days: int = 35, *, durable: bool = True) -> EmbeddedStore:
    """Open a store whose table has continuous backups."""
    store = EmbeddedStore(path, clock=clock, durable=durable)
    if not store.execute(DescribeRecovery(TABLE.name)).enabled if _has_table(store) else True:
        store.execute(CreateTable(TABLE))
        store.execute(SetRecovery(TABLE.name, days))
    return store


def _has_table(store: Store) -> bool:
    from partita.store import ListTables  # noqa: PLC0415 - used once

    return TABLE.name in store.execute(ListTables())


def replayed(changes: list[Change], instant: float, now: float) -> dict[Key, Item]:
    """The items of the table at an instant, according to the history."""
    at = instant if instant >= now - EXACT else max(float(instant // 1), BEGIN)
    state: dict[Key, Item] = {}
    for time_of, key, item in changes:
        if time_of > at:
            break
        state.pop(key, None) if item is None else state.__setitem__(key, item)
    return state


def items_of(store: Store, table: str) -> dict[Key, Item]:
    """All items of a table."""
    found: dict[Key, Item] = {}
    start: Item | None = None
    while True:
        page = store.execute(ScanTable(table, start=start))
        found |= {(item["place"], item["number"]): item for item in page.items}
        start = page.last_key
        if start is None:
            return found


def differing(
    store: EmbeddedStore, changes: list[Change], instants: list[float], now: float, *, restore: bool = True
) -> list[float]:
    """The instants at which a restored table differs from the history."""
    wrong = []
    for instant in instants:
        if restore:
            store.execute(RestoreTable(TABLE.name, replace(TABLE, name="restored", ttl=None), instant))
            found = items_of(store, "restored")
            store.execute(DeleteTable("restored"))
        else:
            past = store.as_of(instant)
            found = items_of(past, TABLE.name)
            past.close()
        if found != replayed(changes, instant, now):
            wrong.append(instant)
    return wrong


def bound_of(changes: list[Change], now: float) -> int:
    """The allowed size of the change log: a record per item and second, and per change of the last hour."""
    state: dict[Key, Item] = {}
    seen: set[tuple[Key, int]] = set()
    total = 0
    for at, key, item in changes:
        second = -int(-at // 1)
        if at >= now - EXACT - 2 or (key, second) not in seen:
            old = len(encode_item(state[key])) if key in state else 0
            total += old + len(encode_item(_named(key))) + RECORD_BYTES
        seen.add((key, second))
        state.pop(key, None) if item is None else state.__setitem__(key, item)
    return total * 5 // 4 + 4 * PAGE  # pages are not completely full


def _measure(seed: int, count: int, instants: int, folder: Path) -> bool:
    clock = Clock()
    store = begun(folder / "points.db", clock, durable=False)
    changes: list[Change] = []
    history = steps(seed)
    for _ in range(count):
        step = next(history)
        run_step(store, clock, step)
        changes += step.changes
    store.sweep()
    changes += [(clock.now, key, None) for key in _expired(changes, clock.now)]
    now, rng = clock.now, random.Random(seed + 1)
    chosen = [round(rng.uniform(BEGIN, now), 6) for _ in range(instants)]
    began = time.perf_counter()
    wrong = differing(store, changes, chosen, now)
    seconds = time.perf_counter() - began
    log = store.execute(DescribeRecovery(TABLE.name, measured=True))
    bound = bound_of(changes, now)
    print(f"{count:,} steps, {len(changes):,} changes in {(now - BEGIN) / 3600:.1f} hours of the history's clock.")
    print(
        f"{instants:,} instants restored: {len(wrong)} differ from a replay; {seconds / instants * 1000:.0f} ms each."
    )
    print(f"Change log: {log.records:,} records, {log.log_bytes:,} bytes; bound {bound:,} bytes.")
    store.close()
    return not wrong and log.log_bytes <= bound


def _measure_reads(folder: Path, items: int, changed: int) -> None:
    """Read one item of a past state, the first time and again, and compare with a restore of the whole table."""
    clock = Clock()
    with begun(folder / "reads.db", clock, durable=False) as store:
        made = ({"place": f"place {number % 7}", "number": number, "text": "x" * 300} for number in range(items))
        store.execute(LoadItems(TABLE.name, [BulkPut(item) for item in made]))
        then = clock.now
        clock.now += 1
        for number in range(changed):
            store.execute(PutItem(TABLE.name, {"place": f"place {number % 7}", "number": number, "text": "new"}))
        past, key = store.as_of(then), {"place": "place 3", "number": 3}
        seconds = []
        for _ in range(20):
            began = time.process_time()
            assert past.execute(GetItem(TABLE.name, key)).item == {**key, "text": "x" * 300}
            seconds.append(time.process_time() - began)
        past.close()
        began = time.process_time()
        store.execute(RestoreTable(TABLE.name, replace(TABLE, name="restored", ttl=None), then))
        whole = time.process_time() - began
    print(
        f"{items:,} items, {changed:,} changed since: one past item first in {seconds[0] * 1000:.1f} ms, again in "
        f"{median(seconds[1:]) * 1000:.2f} ms; the whole table in {whole * 1000:,.0f} ms, of processor time."
    )


def _expired(changes: list[Change], now: float) -> list[Key]:
    state = replayed(changes, now, now)
    return [key for key, item in state.items() if "expires" in item and item["expires"] <= now]


def write_until_killed(path: Path, seed: int) -> None:
    """Execute the steps of a history, and print the number of each step when it is done."""
    clock = Clock()
    store = begun(path, clock)
    for number, step in enumerate(steps(seed), 1):
        run_step(store, clock, step)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


def killed_history(path: Path, seed: int, acknowledged: int, instants: int) -> list[float]:
    """Kill a process in the middle of a history, and return the instants at which the store differs from it.

    The process is killed when it has acknowledged `acknowledged` steps. One more may have been committed.
    """
    command = [sys.executable, "-m", "bench.points", "--writer", str(path), "--seed", str(seed)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= acknowledged:
            break
    process.kill()
    done = [int(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    number = done[-1] if done else acknowledged
    taken = [step for step, _ in zip(steps(seed), range(number + 1), strict=False)]
    clock = Clock()
    with EmbeddedStore(path, clock=clock) as store:
        changes = [change for step in taken[:number] for change in step.changes]
        more = [*changes, *taken[number].changes]
        clock.now = taken[number].at
        if items_of(store, TABLE.name) != replayed(changes, clock.now, clock.now):
            changes = more
        rng = random.Random(seed)
        chosen = [*(round(rng.uniform(BEGIN, clock.now), 6) for _ in range(instants)), clock.now]
        store.verify()
        return differing(store, changes, chosen, clock.now, restore=False)


def main() -> int:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--instants", type=int, default=1_000)
    parser.add_argument("--items", type=int, default=100_000, help="number of items in the table whose past is read")
    parser.add_argument("--changed", type=int, default=1_000, help="number of items changed since then")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--writer", type=Path, help="used by this script itself")
    given = parser.parse_args()
    if given.writer is not None:
        write_until_killed(given.writer, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        sound = _measure(given.seed, given.steps, given.instants, Path(folder))
        _measure_reads(Path(folder), given.items, given.changed)
        rng, wrong = random.Random(given.seed), 0
        for kill in range(given.kills):
            path = Path(folder) / f"killed-{kill}.db"
            wrong += len(killed_history(path, given.seed + kill, rng.randint(20, 800), 20))
        if given.kills:
            print(f"{given.kills:,} kills with 21 instants each: {wrong} differ from a replay.")
    return 0 if sound and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
