"""Items: writes, transactions, batches and reads of a few lists, checked as histories; index, stream and projection.

Every read and append is part of a history, which must be strictly serializable. The index, the stream replayed from
its beginning, and a projection must agree with the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, ClassVar, Final

import apsw
from tests.histories._anomalies import find_anomalies
from tests.histories._history import Recorder
from tests.histories._workload import KEYS, TABLE, ListClient, Thing, thing
from tests.simulation._following import follow, opened
from tests.simulation._kernel import Process
from tests.simulation._played import Played
from tests.simulation._retrying import PASSING
from tests.simulation._world import World, all_items, expect

from partita import (
    Entity,
    Key,
    Session,
    Table,
    delete,
    f,
    get,
    new_ulid,
    upsert,
)
from partita.change import ItemChange, SqliteProjection
from partita.queue import QueuePolicy

CLIENTS: Final = 4
GROUPS: Final = ("red", "green", "blue")


class Note(Entity, table=TABLE):
    """An item that is written and deleted."""

    primary: ClassVar = Key("NOTE#{note_id}", "META")
    by_group: ClassVar = Key("GROUP#{group}", "NOTE#{note_id}", index="GSI1")

    note_id: str
    group: str
    text: str = ""


@get(Note)
def note(note_id: str) -> None:
    """A note."""


class Items:
    """The scenario `items`, with the history of its clients."""

    tables: Sequence[Table] = (TABLE,)
    queues: Mapping[str, QueuePolicy] = {}
    spared: Container[str] = ("clock step",)
    """A transaction token is remembered for ten minutes, which a jump of the clock ends early."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self._numbers = 0
        self._played = Played(TABLE)

    def start(self, world: World) -> None:
        """Start the clients and the projector, with an empty table."""
        for number in range(CLIENTS):
            world.client(f"client-{number}", lambda process: self._live(world, process))
        world.worker("projector", lambda process: follow(world, process, TABLE, lambda: open_projection(world)))

    def _live(self, world: World, process: Process) -> None:
        session = world.session(process)
        client = ListClient(session, self.recorder, process.name, world.random, self._next)
        acts: tuple[Callable[[], None], ...] = (
            *client.acts,
            lambda: self._group(world, session),
            lambda: self._note(world, session, process.name),
        )
        while not world.is_calm:
            try:
                world.random.choice(acts)()
            except PASSING:
                world.kernel.sleep(0.5)
            world.kernel.sleep(world.random.uniform(0.0, 0.1))

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers

    def _group(self, world: World, session: Session) -> None:
        key, group = world.random.choice(KEYS), world.random.choice((*GROUPS, None))
        session.run(upsert(thing(key), f(Thing.group).set(group)))

    def _note(self, world: World, session: Session, name: str) -> None:
        note_id, group = world.random.choice(("n1", "n2")), world.random.choice(GROUPS)
        made = [new_ulid() for _ in range(3)]
        expect(made == sorted(made), "identifiers are not in the order of their creation: {}", made)
        if world.random.random() < 0.4:
            session.run(delete(note(note_id)))
        else:
            session.run(upsert(note(note_id), f(Note.group).set(group), f(Note.text).set(name)))

    def check(self, world: World) -> None:
        """Check that the index and the replayed stream match the table."""
        items = world.items(TABLE)
        expected = sorted((i["GSI1PK"], i["GSI1SK"], i["PK"]) for i in items if "GSI1PK" in i)
        found = sorted((i["GSI1PK"], i["GSI1SK"], i["PK"]) for i in all_items(world.server.store, TABLE.name, "GSI1"))
        expect(expected == found, "the index has {}, the table {}", found, expected)
        for item in items:
            group = item.get("group")
            key = None if group is None else f"GROUP#{group}"
            expect(item.get("GSI1PK") == key, "the index key of {} does not match its group", item)
        self._played.check(world, items)

    def is_settled(self, world: World) -> bool:
        """Whether all clients have ended, and the projection matches the table."""
        return world.clients_are_done() and _projected(world) == _stored(world)

    def check_end(self, world: World) -> None:
        """Check that the history of all clients has no anomalies."""
        ListClient(world.truth, self.recorder, "truth", world.random, self._next).read_all()
        for finding in find_anomalies(self.recorder.history):
            expect(False, "{}", finding)


def open_projection(world: World) -> SqliteProjection:
    """Open the projection, whose file is on the simulated disk, too."""
    tables = "CREATE TABLE things (pk TEXT PRIMARY KEY, numbers TEXT, rest TEXT)"
    return SqliteProjection(world.folder / "projection.db", tables=tables, apply=_apply)


def _apply(connection: apsw.Connection, change: ItemChange) -> None:
    """Append only what is new in a list, so that a later change does not hide a skipped one."""
    pk, old, new = change.keys["PK"], change.old_item or {}, change.new_item
    if new is None:
        connection.execute("DELETE FROM things WHERE pk = ?", (pk,))
        return
    rows: list[Any] = connection.execute("SELECT numbers FROM things WHERE pk = ?", (pk,)).fetchall()
    before = json.loads(rows[0][0]) if rows else []
    added = new.get("numbers", [])[len(old.get("numbers", [])) :]
    rest = {name: str(value) for name, value in new.items() if name != "numbers"}
    values = (pk, json.dumps([*before, *map(int, added)]), json.dumps(rest, sort_keys=True))
    connection.execute("INSERT OR REPLACE INTO things VALUES (?, ?, ?)", values)


def _projected(world: World) -> dict[str, tuple[str, str]]:
    with opened(open_projection(world)) as projection:
        return {pk: (numbers, rest) for pk, numbers, rest in projection.read("SELECT pk, numbers, rest FROM things")}


def _stored(world: World) -> dict[str, tuple[str, str]]:
    found = {}
    for item in world.items(TABLE):
        rest = {name: str(value) for name, value in item.items() if name != "numbers"}
        found[item["PK"]] = json.dumps([int(n) for n in item.get("numbers", [])]), json.dumps(rest, sort_keys=True)
    return found
