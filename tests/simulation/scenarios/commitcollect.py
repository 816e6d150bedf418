"""CommitCollect: webhooks arrive twice or late, Strava and workers fail. Every part is awarded once, for good."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from tests.services.commitcollect.strava_model import ATHLETE, StravaModel
from tests.simulation._kernel import START, Process
from tests.simulation._retrying import PASSING, GaveUp, ask_again
from tests.simulation._strava import Athlete, tools_of
from tests.simulation._world import World, all_items, expect

from partita import Session, Table
from partita.errors import ConditionFailed
from partita.queue import GetStats, QueuePolicy
from partita.recipes.audit import Trace
from partita.recipes.idempotency import Command, StoredResponse, fingerprint
from partita.recipes.outbox import OutboxMessage
from partita.values import Item
from partita_services.commitcollect.audit import AUDIT_TABLE
from partita_services.commitcollect.bootstrap import NOTICE_POLICY, NOTICE_QUEUE, POLICY, QUEUE
from partita_services.commitcollect.collectibles.definition import bundled
from partita_services.commitcollect.collectibles.loading import load_model
from partita_services.commitcollect.handlers import (
    MilestoneDraft,
    add_milestone,
    after_creation,
    edit_milestone,
    synchronise,
)
from partita_services.commitcollect.jobs.announcing import Announcer
from partita_services.commitcollect.jobs.backfill import start_backfill
from partita_services.commitcollect.jobs.ingest import EventJob
from partita_services.commitcollect.jobs.worker import work_once
from partita_services.commitcollect.milestones.progress import measure, parts_earned
from partita_services.commitcollect.model import (
    IDEMPOTENCY_TABLE,
    REQUESTS,
    TABLE,
    Connection,
    ConnectionState,
    Metric,
    Profile,
    connection_of,
    milestones_of,
    owner_of,
)
from partita_services.commitcollect.strava.interface import Exchange, StravaError
from partita_services.commitcollect.work import Tools, do, send
from partita_services.commitcollect.writes import connect, join

USER: Final = "ann"
WORKERS: Final = 2
MODEL: Final = "steam-locomotive"
FIRST_LINK: Final = "link-0"
TARGETS: Final = (1_000, 4_000, 12_000)
OVERDUE: Final = timedelta(seconds=150)
"""If the activities are not there after this time, the user presses the button that reads them again."""
TODAY: Final = datetime.fromtimestamp(START, UTC).date()


class CommitCollect:
    """The scenario `commitcollect`: one athlete, their milestones, and the notices that were sent."""

    tables: Sequence[Table] = (TABLE, AUDIT_TABLE, IDEMPOTENCY_TABLE)
    queues: Mapping[str, QueuePolicy] = {QUEUE: POLICY, NOTICE_QUEUE: NOTICE_POLICY}
    spared: Container[str] = ()

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        """The milestone that each command created, by the key of the command."""
        self.heard: dict[str, dict[str, Any]] = {}
        """The content of each notice, by its id."""
        self._seen: dict[str, Item] = {}
        """The awards as they were first stored."""
        self.athlete: Athlete

    def start(self, world: World) -> None:
        """Load a model, connect a user, and start the clients and workers."""
        strava = StravaModel(world.kernel.clock)
        self.athlete = Athlete(strava, Random(f"athlete {world.random.random()}"))
        world.truth.run(load_model(next(model for model in bundled() if model.model_id == MODEL)))
        at = datetime.fromtimestamp(START, UTC)
        connection = self._linked(tools_of(world, Process(world.kernel, "truth"), strava, self._hear), FIRST_LINK)
        profile = Profile(user_id=USER, athlete_id=str(ATHLETE), name="Ann", created_at=at)
        world.truth.run(join(profile, connection, ()))
        world.client("athlete", lambda process: self._train(world, process))
        for number in range(2):
            world.client(f"ann-{number}", lambda process: self._commit(world, process))
        for number in range(WORKERS):
            world.worker(f"worker-{number}", lambda process: self._work(world, process))
        world.worker("browser", lambda process: self._stay_connected(world, process))

    def _tools(self, world: World, process: Process) -> Tools:
        return tools_of(world, process, self.athlete.model, self._hear)

    def _hear(self, message: OutboxMessage) -> None:
        self.heard[message.message_id] = message.content

    def _linked(self, tools: Tools, link_id: str) -> Connection:
        grant = self.athlete.model.execute(Exchange(f"code-{ATHLETE}"))
        return Connection(
            user_id=USER,
            athlete_id=str(ATHLETE),
            athlete_name="Ann",
            link_id=link_id,
            scopes=("activity:read", "read"),
            sealed=tools.application.vault.seal(grant, USER),
            expires_at=grant.expires_at,
            connected_at=datetime.fromtimestamp(tools.application.clock(), UTC),
        )

    def _train(self, world: World, process: Process) -> None:
        """Change activities at Strava, and deliver each event once or twice, in any order, until it is accepted."""
        session, tools = world.session(process), self._tools(world, process)
        undelivered: list[EventJob] = []
        while undelivered or not world.is_calm:
            if not world.is_calm:
                undelivered.append(self.athlete.act(world.kernel.now))
                if world.random.random() < 0.05:
                    self.athlete.model.expire()
            world.random.shuffle(undelivered)
            for job in [each for each in undelivered if world.is_calm or world.random.random() < 0.7]:
                with suppress(GaveUp):
                    ask_again(world, lambda: _receive(session, tools, job), tries=3)  # noqa: B023 - at once
                    if world.is_calm or world.random.random() < 0.8:  # else Strava got no response, and sends it again
                        undelivered.remove(job)
            world.kernel.sleep(world.random.uniform(0.0, 1.5))

    def _commit(self, world: World, process: Process) -> None:
        """Create milestones with idempotency keys and retries, and cancel some of them."""
        session, count = world.session(process), 0
        while not world.is_calm:
            count += 1
            with suppress(GaveUp, ConditionFailed):
                made = self._make(world, session, process, f"{process.name}-{count}")
                if world.random.random() < 0.2:
                    edit = {"version": 1, "status": "CANCELLED"}
                    now = process.clock()
                    ask_again(world, lambda: session.run(edit_milestone(USER, made, edit, now, _trace(made))))  # type: ignore[arg-type]  # noqa: B023
            world.kernel.sleep(world.random.uniform(1.0, 8.0))

    def _make(self, world: World, session: Session, process: Process, key: str) -> str:
        draft = MilestoneDraft(
            title=key,
            model_id=MODEL,
            metric=Metric.DISTANCE,
            target=world.random.choice(TARGETS),
            starts_on=TODAY - timedelta(days=10),
            ends_on=TODAY + timedelta(days=10),
        )
        command = Command(USER, key, fingerprint(key))

        def ask() -> str:
            plan = add_milestone(USER, draft, process.clock())
            outcome = session.run(
                REQUESTS.run(command, plan, lambda made: StoredResponse(body=made.milestone.milestone_id))
            )
            session.run(after_creation(USER, outcome.response.body, process.clock(), _trace(key)))
            return outcome.response.body

        for _ in range(world.random.choice((1, 1, 2))):
            body: str = ask_again(world, ask)
            before = self.told.setdefault(key, body)
            expect(before == body, "the command {} created {}, and then {}", key, before, body)
        return self.told[key]

    def _work(self, world: World, process: Process) -> None:
        session, tools = world.session(process), self._tools(world, process)
        announcer = Announcer(session, tools)
        while True:
            try:
                announcer.announce(is_due=work_once(session, tools, wait=1.0) > 0)
            except PASSING:
                world.kernel.sleep(1.0)

    def _stay_connected(self, world: World, process: Process) -> None:
        """Reconnect if the connection is lost, and read all activities again if the backfill takes too long."""
        session, tools = world.session(process), self._tools(world, process)
        while True:
            with suppress(*PASSING, ConditionFailed, StravaError):
                found = session.run(connection_of(USER).consistent())
                now = datetime.fromtimestamp(process.clock(), UTC)
                if found is None or found.state is ConnectionState.RECONNECT:
                    again = self._linked(tools, tools.application.new_id())
                    session.run(connect(again, ()))
                    do(
                        start_backfill(tools.application, again, _trace("back"), found.lost_at if found else None),
                        session,
                        tools,
                    )
                elif _is_overdue(found, now):
                    do(synchronise(tools.application, USER, _trace("button")), session, tools)
            world.kernel.sleep(20.0)

    def check(self, world: World) -> None:
        """Check that each part was awarded once, in order, for work that was done, and that awards do not change."""
        items = world.items(TABLE)
        awards = {each["SK"]: each for each in items if "#AWARD#" in each["SK"]}
        for key, before in self._seen.items():
            expect(awards.get(key) == before, "the award {} was {}, and is now {}", key, before, awards.get(key))
        self._seen |= awards
        done = sum(self.athlete.best.values())
        milestones = [each for each in items if each["SK"].startswith("MILESTONE#") and "parts_earned" in each]
        for each in milestones:
            earned, total = int(each["parts_earned"]), int(each["parts_total"])
            parts = sorted(int(a["part_index"]) for a in awards.values() if a["milestone_id"] == each["milestone_id"])
            expect(parts == list(range(1, earned + 1)), "{} earned {} parts, and has {}", each["title"], earned, parts)
            expect(earned <= parts_earned(done, int(each["target"]), total), "{} has unearned parts", each["title"])
            is_complete = each["status"] == "COMPLETED"
            expect(is_complete == (earned == total), "{} is {} with {} parts", each["title"], each["status"], earned)
        titles = [each["title"] for each in milestones]
        expect(len(set(titles)) == len(titles), "a milestone was created twice: {}", titles)
        listed = sorted(each["SK"] for each in all_items(world.server.front, TABLE.name, "LSI1"))
        expect(listed == sorted(each["SK"] for each in items if "LSI1SK" in each), "the index differs from the table")
        self._check_notices(awards)

    def _check_notices(self, awards: Mapping[str, Item]) -> None:
        known = {(each["milestone_id"], each["part_name"]) for each in awards.values()}
        said = [(each["milestone_id"], part) for each in self.heard.values() for part in each["parts"]]
        expect(len(said) == len(set(said)), "a part was announced by two notices")
        expect(set(said) <= known, "parts were announced that were not awarded: {}", set(said) - known)

    def is_settled(self, world: World) -> bool:
        """Whether all clients and jobs are done, the backfill is finished, and all notices are sent."""
        stats = [queue.execute(GetStats()) for queue in world.server.queues.values()]
        waits = any(each["PK"].startswith("NOTICES#") for each in world.items(TABLE))
        found = world.truth.run(connection_of(USER))
        is_read = found is not None and found.state is ConnectionState.CONNECTED and _is_read(found)
        return (
            world.clients_are_done()
            and is_read
            and not waits
            and not any(each.waiting + each.in_flight for each in stats)
        )

    def check_end(self, world: World) -> None:
        """Check that activities match Strava, no earned part is missing, and every award was announced."""
        items = world.items(TABLE)
        stored = {int(each["activity_id"]): float(each["distance"]) for each in items if "started_local" in each}
        true = {number: each.distance for number, each in self.athlete.model.activities.items()}
        expect(stored == true, "the stored activities are {}, those at Strava {}", stored, true)
        standing = world.truth.run(milestones_of(USER).page(100)).items
        progress = world.truth.run(measure(USER, standing))
        for each, reached in zip(standing, progress, strict=True):
            owed = parts_earned(reached.value, each.target, each.parts_total)
            expect(each.status != "ACTIVE" or owed <= each.parts_earned, "{} should have {} parts", each.title, owed)
            expect(each.status != "COMPLETED" or reached.value >= each.target, "{} lost its progress", each.title)
        awards = [each for each in items if "#AWARD#" in each["SK"]]
        said = {(each["milestone_id"], part) for each in self.heard.values() for part in each["parts"]}
        expect(said == {(each["milestone_id"], each["part_name"]) for each in awards}, "not every award was announced")
        made = {each.milestone_id for each in standing}
        expect(set(self.told.values()) <= made, "an acknowledged milestone is missing")


def _receive(session: Session, tools: Tools, job: EventJob) -> None:
    """Put the event into the queue, as the route does before it responds to Strava."""
    owner = str(job.owner_id)
    if session.run(owner_of(owner).consistent()) is not None:
        do(send(job, owner, tools.application.new_id()), session, tools)


def _is_read(connection: Connection) -> bool:
    """Whether all activities were read. Only the first connection needs no backfill."""
    if connection.backfill is None:
        return connection.link_id == FIRST_LINK
    return connection.backfill.finished


def _is_overdue(connection: Connection, now: datetime) -> bool:
    began = connection.connected_at if connection.backfill is None else connection.backfill.started_at
    return not _is_read(connection) and began + OVERDUE < now


def _trace(story: str) -> Trace:
    return Trace(story, story)
