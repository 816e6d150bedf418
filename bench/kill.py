"""Kill writing processes at random instants, and check that no acknowledged write was lost.

Two processes with four threads each write to one file. Every call that returns is acknowledged through a pipe. After a
random number of acknowledgements both are killed, the file is opened again and checked, and the next round continues
with the same file. Each process encrypts secrets with its own data key, and every tenth round the file of keys is
rotated.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from bench._script import (
    CREDIT,
    LATEST,
    SHARED,
    TABLE,
    TOTAL,
    Belongings,
    Slot,
    State,
    Step,
    all_of_group,
    belongings_of,
    latest_of,
    opened_by,
    sealing,
    steps,
)
from partita import EmbeddedStore, Session
from partita.encryption import FieldKeys, KeyProvider, LocalKeys
from partita.errors import FieldSealed
from partita.expressions._ast import KeyCondition
from partita.model import schema_of
from partita.runtime import system_clock
from partita.store._requests import CreateTable, GetItem, QueryTable, Request
from partita.values import Item

PROCESSES: Final = 2
THREADS: Final = 4
MAX_ACKNOWLEDGED: Final = 300
ROTATED_EVERY: Final = 10
WRITERS: Final = tuple(f"writer-{number}" for number in range(PROCESSES * THREADS))

# Forking is cheap, and safe here: there are no threads and no open database when a round starts.
_FORK: Final = multiprocessing.get_context("fork")


class Lost(Exception):
    """The stored items are not those that were acknowledged."""


class Round(Struct, frozen=True):
    """The result of one round: the numbers of acknowledged calls, and of calls in flight that were committed."""

    acknowledged: int
    committed_unheard: int


def rounds(path: Path, count: int, seed: int, most: int = MAX_ACKNOWLEDGED) -> Iterator[Round]:
    """Run rounds on one file, each continuing after the kill of the one before; `most` acknowledgements per round.

    Raises:
        Lost: an acknowledged write is missing, or only part of a transaction is stored.
        StoreDamaged: table, indexes and stream disagree.
    """
    rng = random.Random(seed)
    states: dict[str, State] = {writer: {} for writer in WRITERS}
    keys = path.with_suffix(".keys")
    LocalKeys.create(keys)
    with EmbeddedStore(path) as store:
        store.execute(CreateTable(TABLE))
    for number in range(1, count + 1):
        provider = LocalKeys.from_file(keys) if number % ROTATED_EVERY else LocalKeys.rotate(keys)
        seeds = {writer: rng.getrandbits(32) for writer in WRITERS}
        acknowledged = _write_until_killed(path, provider, _scripts(states, seeds), rng.randint(1, most))
        yield _check(path, provider, states, _scripts(states, seeds), acknowledged)


def _scripts(states: dict[str, State], seeds: dict[str, int]) -> dict[str, Iterator[Step]]:
    return {writer: steps(writer, states[writer], random.Random(seeds[writer])) for writer in WRITERS}


def _check(
    path: Path,
    provider: KeyProvider,
    states: dict[str, State],
    scripts: dict[str, Iterator[Step]],
    acknowledged: dict[str, int],
) -> Round:
    """Check the stored items, and set the states to them."""
    unheard = 0
    with EmbeddedStore(path) as store:
        store.verify()
        for writer in WRITERS:
            script = scripts[writer]
            states[writer], committed = stored_state(store, writer, states[writer], script, acknowledged[writer])
            check_entries(store, writer, provider)
            unheard += committed
        check_total(store, states)
    return Round(sum(acknowledged.values()), unheard)


def stored_state(
    store: EmbeddedStore, writer: str, state: State, script: Iterator[Step], acknowledged: int
) -> tuple[State, bool]:
    """The stored state of the writer, and whether it includes the step that was in flight."""
    for _ in range(acknowledged):
        state = next(script).applied_to(state)
    in_flight = next(script)
    stored = _stored(store, writer)
    if stored == state:
        return stored, False
    if stored == in_flight.applied_to(state):
        return stored, True
    different = {slot: (state.get(slot), stored.get(slot)) for slot in sorted(state.keys() | stored.keys())}
    different = {slot: pair for slot, pair in different.items() if pair[0] != pair[1]}
    raise Lost(f"{writer}: acknowledged and stored values differ in {different}; in flight was {in_flight}")


def _stored(store: EmbeddedStore, writer: str) -> State:
    """The writer's numbers, read by the table key and by the local index, which must agree."""
    whole = KeyCondition((("writer", writer),))
    by_key, by_number = (
        {
            item.get("slot", CREDIT): item["n"]
            for item in store.execute(QueryTable(TABLE.name, whole, index=index)).items
        }
        for index in (None, "by_number")
    )
    if by_key != by_number:
        raise Lost(f"{writer}: the table has {by_key}, its index {by_number}")
    return by_key


def check_entries(store: EmbeddedStore, writer: str, provider: KeyProvider) -> None:
    """Check that every secret can be decrypted, and every item has the right index keys and is in the right indexes.

    Raises:
        Lost: a check failed.
    """
    session, schema, keys = Session(store, keys=provider), schema_of(Slot), FieldKeys(provider, system_clock)
    whole = store.execute(QueryTable(TABLE.name, KeyCondition((("writer", writer),)))).items
    items = [keys.open_item(TABLE.name, item) for item in whole if "group" in item]
    slots = [_slot_of(item) for item in items]
    for item, slot in zip(items, slots, strict=True):
        made = schema.item(slot)
        if {**item, "secret": made["secret"]} != made:  # the content of the secret is already checked
            raise Lost(f"{writer}: the keys of {item} do not match its fields.")
    expected = {slot for slot in slots if slot.is_open}
    if set(session.run(opened_by(writer))) != expected:
        raise Lost(f"{writer}: the index of open items does not contain exactly {expected}.")
    for slot in slots:
        if session.run(all_of_group(writer, slot.group)).items != (slot,):
            raise Lost(f"{writer}: the index on several attributes lacks {slot}.")
        inverted = KeyCondition((("sk", f"SLOT#{slot.slot}"), ("writer", writer)))
        if len(store.execute(QueryTable(TABLE.name, inverted, index="inverted")).items) != 1:
            raise Lost(f"{writer}: the inverted index lacks {slot}.")
    _check_collections(session, writer, slots)


def _check_collections(session: Session, writer: str, slots: list[Slot]) -> None:
    """Check that the collection without limits has all items, and the one with a limit the last of them."""
    for found, expected in (
        (session.run(belongings_of(writer)), slots),
        (session.run(latest_of(writer)), slots[: -LATEST - 1 : -1]),
    ):
        if (found or Belongings(None, ())).slots != tuple(expected):
            raise Lost(f"{writer}: the collection has {found} instead of {expected}.")


def _slot_of(item: Item) -> Slot:
    """Read an item, and check that its secret can be decrypted and was written together with the rest of it."""
    try:
        slot = schema_of(Slot).entity(item)
    except FieldSealed as error:
        raise Lost(f"{item['writer']}: the secret of {item['slot']} cannot be decrypted: {error}") from error
    if slot.secret != slot.told:
        raise Lost(f"{item['writer']}: the secret of {item['slot']} was not written together with the item.")
    return slot


def check_total(store: EmbeddedStore, states: dict[str, State]) -> None:
    """Check that each credit was added to the shared total in the same transaction."""
    item = store.execute(GetItem(TABLE.name, {"writer": SHARED, "sk": TOTAL})).item or {}
    given = sum(state.get(CREDIT, 0) for state in states.values())
    if item.get("n", 0) != given:
        raise Lost(f"The total is {item.get('n', 0)}, but credits of {given} were given.")


def _write_until_killed(
    path: Path, provider: KeyProvider, scripts: dict[str, Iterator[Step]], limit: int
) -> dict[str, int]:
    """Let the writers write until `limit` steps are acknowledged, kill them, and return the count of each writer."""
    pipes = {writer: _FORK.Pipe(duplex=False) for writer in WRITERS}
    readers = {reader: writer for writer, (reader, _) in pipes.items()}
    work = [(scripts[writer], pipes[writer][1]) for writer in WRITERS]
    processes = [
        _FORK.Process(target=_work, args=(path, provider, work[first : first + THREADS], list(readers)), daemon=True)
        for first in range(0, len(work), THREADS)
    ]
    acknowledged = dict.fromkeys(WRITERS, 0)
    try:
        for process in processes:
            process.start()
        for _, end in work:
            end.close()
        while sum(acknowledged.values()) < limit:
            ready = wait(list(readers))
            for reader, writer in readers.items():
                if reader in ready:
                    acknowledged[writer] += _heard(reader)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()
    for reader, writer in readers.items():
        acknowledged[writer] += _heard_until_the_end(reader)
    return acknowledged


def _heard(reader: Connection) -> int:
    """Receive one acknowledgement, and return 1; a writer that ends before it is killed is an error."""
    try:
        message = reader.recv_bytes()
    except EOFError:
        raise Lost("A writing process ended without being killed.") from None
    if message:
        raise Lost(f"A writer failed: {message.decode()}")
    return 1


def _heard_until_the_end(reader: Connection) -> int:
    count = 0
    with reader, suppress(EOFError):
        while not reader.recv_bytes():
            count += 1
    return count


def _work(
    path: Path, provider: KeyProvider, work: list[tuple[Iterator[Step], Connection]], readers: list[Connection]
) -> None:
    """Run one process, with a thread for each script."""
    for reader in readers:  # the parent's ends, so that writing fails when the parent has ended
        reader.close()
    store, seal = EmbeddedStore(path), sealing(provider)
    threads = [threading.Thread(target=_write, args=(store, seal, script, pipe)) for script, pipe in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _write(
    store: EmbeddedStore, seal: Callable[[Step], Request[Any]], script: Iterator[Step], pipe: Connection
) -> None:
    """Run one thread: execute a step, acknowledge it with an empty message, and continue with the next."""
    try:
        for step in script:
            store.execute(seal(step))
            pipe.send_bytes(b"")
    except BrokenPipeError:
        return
    except Exception as error:  # noqa: BLE001 - the parent reports every error
        pipe.send_bytes(repr(error).encode())


@click.command()
@click.option("--rounds", "count", default=100, show_default=True, help="Number of kills.")
@click.option("--writes", default=MAX_ACKNOWLEDGED, show_default=True, help="Maximum acknowledged writes per round.")
@click.option("--seed", type=int, help="Repeat the random choices of an earlier run.")
def main(count: int, writes: int, seed: int | None) -> None:
    """Kill writing processes at random instants, and check that no acknowledged write was lost."""
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    click.echo(f"seed {seed}")
    done: list[Round] = []
    with tempfile.TemporaryDirectory(prefix="partita-kill-") as folder:
        all_rounds = rounds(Path(folder) / "kill.db", count, seed, writes)
        with click.progressbar(all_rounds, length=count, label="killing", update_min_steps=1) as bar:
            done.extend(bar)
    click.echo(
        f"{len(done)} rounds, {sum(each.acknowledged for each in done):,} writes acknowledged, none lost; "
        f"{sum(each.committed_unheard for each in done)} calls were committed and killed before they returned"
    )


if __name__ == "__main__":
    main()
