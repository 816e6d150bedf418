"""To-Do: users change tasks and profiles. Indexes, claims on emails, reminders and counts agree with the items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from datetime import date
from random import Random
from typing import Final

from tests.simulation._following import follow, opened
from tests.simulation._kernel import Process
from tests.simulation._retrying import GaveUp, ask_again
from tests.simulation._world import World, all_items, expect

from partita import Procedure, Session, Table
from partita.errors import ConditionFailed
from partita.queue import QueuePolicy
from partita.recipes.idempotency import Command, Plan, StoredResponse, fingerprint
from partita.values import Item
from partita_services.todo.changes import TaskChange, TaskDraft
from partita_services.todo.handlers import Profile, add_task, change_task, remove_task, write_user
from partita_services.todo.model import REQUESTS, TABLE, Priority, Status, Task
from partita_services.todo.projection import NO_PRIORITY, TaskProjection

USERS: Final = ("ann", "bob", "cyd")
EMAILS: Final = ("one@example.com", "two@example.com")
PROJECTION: Final = "todo-projection.db"
INDEXES: Final = {"GSI1": "status", "GSI2": "due_date", "GSI3": "priority", "GSI4": "category"}


class Todo:
    """The scenario `todo`, with the tasks that users created and the responses that they got."""

    tables: Sequence[Table] = (TABLE,)
    queues: Mapping[str, QueuePolicy] = {}
    spared: Container[str] = ()

    def __init__(self) -> None:
        self.tasks: dict[str, list[str]] = {user: [] for user in USERS}
        self.told: dict[str, str] = {}

    def start(self, world: World) -> None:
        """Start the devices of all users, and the projector."""
        for user in USERS:
            for device in range(2):
                world.client(f"{user}-{device}", lambda process, user=user: self._live(world, process, user))  # type: ignore[misc]
        world.worker("projector", lambda process: follow(world, process, TABLE, lambda: _open(world)))

    def _live(self, world: World, process: Process, user: str) -> None:
        session, count = world.session(process), 0
        random = Random(f"{process.name} {world.random.random()}")
        while not world.is_calm:
            count += 1
            act: Callable[..., None] = random.choice(
                (self._add, self._add, self._change, self._change, self._remove, self._say)
            )
            with suppress(GaveUp, ConditionFailed):
                act(world, session, random, user, f"{process.name}-{count}")
            world.kernel.sleep(random.uniform(0.0, 1.0))

    def _add(self, world: World, session: Session, random: Random, user: str, key: str) -> None:
        command = Command(user, key, fingerprint(key))
        draft = TaskDraft.model_validate({"title": key, **_fields(random)})
        now = int(world.kernel.now)

        def ask() -> str:
            outcome = session.run(REQUESTS.run(command, add_task(user, draft, now), StoredResponse.of))
            return outcome.response.body

        for _ in range(random.choice((1, 1, 2))):
            body = ask_again(world, ask)
            before = self.told.setdefault(key, body)
            expect(before == body, "the command {} returned {}, and then {}", key, before, body)
        self.tasks[user].append(Task.model_validate_json(self.told[key]).task_id)

    def _change(self, world: World, session: Session, random: Random, user: str, key: str) -> None:  # noqa: ARG002
        if self.tasks[user]:
            task_id, change = random.choice(self.tasks[user]), _fields(random)
            now = int(world.kernel.now)
            ask_again(world, lambda: session.run(change_task(user, task_id, change, now)))

    def _remove(self, world: World, session: Session, random: Random, user: str, key: str) -> None:
        if self.tasks[user]:
            task_id = random.choice(self.tasks[user])
            command = Command(user, key, fingerprint(key))

            def plan() -> Procedure[Plan[None]]:
                return remove_task(user, task_id)

            ask_again(world, lambda: session.run(REQUESTS.run(command, plan(), lambda _: StoredResponse(204))))

    def _say(self, world: World, session: Session, random: Random, user: str, key: str) -> None:
        profile = Profile(email=random.choice(EMAILS), name=key, remind_at=random.choice((None, "08:00", "09:00")))
        now = int(world.kernel.now)
        ask_again(world, lambda: session.run(write_user(user, profile, now)))

    def check(self, world: World) -> None:
        """Check that indexes match tasks, claims and reminders match profiles, and no task was created twice."""
        items = world.items(TABLE)
        for index, field in INDEXES.items():
            listed = sorted(each["task_id"] for each in all_items(world.server.front, TABLE.name, index))
            expected = sorted(each["task_id"] for each in _tasks(items) if field in each)
            expect(listed == expected, "the index {} has {}, and should have {}", index, listed, expected)
        titles = Counter(each["title"] for each in _tasks(items))
        expect(max(titles.values(), default=0) <= 1, "a task was created twice: {}", titles.most_common(1))
        users = [each for each in items if each["PK"].startswith("USER#")]
        claims = {each["PK"].rpartition("#")[2]: each for each in items if each["PK"].startswith("UNIQUE#")}
        expect(sorted(claims) == sorted(each["email"] for each in users), "claims {}, users {}", list(claims), users)
        slots = sorted((each["user_id"], each["due_at"]) for each in items if each["PK"].startswith("REMINDERS#"))
        due = sorted((each["user_id"], each["next_reminder"]) for each in users if "next_reminder" in each)
        expect(slots == due, "the reminders are {}, and should be {}", slots, due)

    def is_settled(self, world: World) -> bool:
        """Whether all clients have ended, and the counts of the projection match the table."""
        if not world.clients_are_done():
            return False
        tasks = _tasks(world.items(TABLE))
        with opened(_open(world)) as projection:
            counts = projection.counts()
        states, priorities = Counter(each["status"] for each in tasks), Counter(_priority(each) for each in tasks)
        found = {**{str(k): v for k, v in counts.by_status.items()}, **counts.by_priority}
        return all(found[name] == (states + priorities)[name] for name in found)

    def check_end(self, world: World) -> None:
        """Check that a search for its title finds every task."""
        with opened(_open(world)) as projection:
            for each in _tasks(world.items(TABLE)):
                found = projection.search(each["user_id"], each["title"], 100).task_ids
                expect(each["task_id"] in found, "a search does not find the task {}", each["title"])


def _open(world: World) -> TaskProjection:
    return TaskProjection(world.folder / PROJECTION)


def _tasks(items: Sequence[Item]) -> list[Item]:
    return [each for each in items if each["PK"].startswith("TASK#")]


def _priority(item: Item) -> str:
    return str(item.get("priority", NO_PRIORITY))


def _fields(random: Random) -> TaskChange:
    return {
        "status": random.choice(list(Status)),
        "priority": random.choice((None, *Priority)),
        "category": random.choice((None, "home", "work")),
        "due_date": random.choice((None, date(2026, 2, 1), date(2026, 3, 1))),
    }
