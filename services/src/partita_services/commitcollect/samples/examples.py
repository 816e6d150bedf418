"""Operations on the sample data, to measure what their access patterns cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from partita import Entity, Operation, delete, f, update
from partita.recipes.idempotency import Command
from partita_services.commitcollect.audit import events_of_month, events_of_story, events_of_user, events_seen_by
from partita_services.commitcollect.collectibles.definition import bundled
from partita_services.commitcollect.collectibles.model import catalogue, retire_model, save_model
from partita_services.commitcollect.jobs.ingest import gone
from partita_services.commitcollect.model import (
    REQUESTS,
    Award,
    Connection,
    Milestone,
    MilestoneStatus,
    Profile,
    Progress,
    Workout,
    milestone_by_id,
    requests_of,
)
from partita_services.commitcollect.samples.data import SAMPLE_USER, seed
from partita_services.commitcollect.signin.sessions import SESSIONS, begin_login
from partita_services.commitcollect.strava.model import (
    RateLimit,
    Subscription,
    Tickets,
    limit_of,
    save_limit,
    save_subscription,
    subscription_of,
)
from partita_services.commitcollect.writes import (
    award_parts,
    cancel_milestone,
    change_connection,
    change_milestone,
    connect,
    count_look,
    create_milestone,
    delete_awards,
    delete_milestones,
    delete_workouts,
    drop_connection,
    expire_milestone,
    join,
    open_quarter,
    save_workout,
    save_workouts,
)

E = TypeVar("E", bound=Entity)

_CLIENT = "commitcollect"
_NOTHING = Progress(value=0, fraction=0, counted=0, inspected=0, truncated=False, not_counted={})


def examples(now: float) -> Sequence[Operation[Any]]:
    """Return an operation of the sample user for each pattern whose arguments are not just fields of a sample."""
    return [*_reads(), *_of_models(now), *_of_milestones(now), *_of_strava(now)]


def _reads() -> list[Operation[Any]]:
    return [
        subscription_of(_CLIENT),
        limit_of(_CLIENT),
        REQUESTS.record(Command(SAMPLE_USER, "key", "")).consistent(),
        requests_of(SAMPLE_USER),
        events_of_user(SAMPLE_USER),
        events_of_story("story"),
        events_of_month("part_awarded", "202605"),
        events_seen_by(SAMPLE_USER, events_of_story("story")),
    ]


def _of_models(now: float) -> list[Operation[Any]]:
    model = bundled()[0]
    return [
        catalogue(),
        save_model(model.model, model.stored_parts, model.stored_picture),
        retire_model(model.model_id, datetime.fromtimestamp(now, UTC)),
    ]


def _of_milestones(now: float) -> list[Operation[Any]]:
    milestones, awards, (profile,) = _samples(Milestone, now), _samples(Award, now), _samples(Profile, now)
    active = next(one for one in milestones if one.status is MilestoneStatus.ACTIVE)
    stored = active.model_copy(update={"version": 1})
    new = active.model_copy(update={"milestone_id": "another"})
    part = awards[-1].model_copy(update={"milestone_id": active.milestone_id, "part_index": active.parts_total})
    return [
        create_milestone(new, [part.model_copy(update={"milestone_id": "another"})], profile),
        change_milestone(stored, f(Milestone.title).set("Further")),
        cancel_milestone(stored, _NOTHING),
        expire_milestone(stored, _NOTHING),
        award_parts(update(stored, f(Milestone.parts_earned).set(active.parts_total)), [part]),
        delete_milestones([delete(milestone_by_id(SAMPLE_USER, one.milestone_id)) for one in milestones]),
        delete_awards([delete(one) for one in awards[:25]]),
    ]


def _of_strava(now: float) -> list[Operation[Any]]:
    (connection,), (profile,) = _samples(Connection, now), _samples(Profile, now)
    workouts = [one.model_copy(update={"ticket": 2}) for one in _samples(Workout, now)]
    entry = [SESSIONS.create("i" * 22, SAMPLE_USER)]
    newcomer = profile.model_copy(update={"user_id": "new", "athlete_id": "1"})
    return [
        join(newcomer, connection.model_copy(update={"user_id": "new"}), entry),
        connect(connection, entry),
        change_connection(connection, f(Connection.generation).set(2)),
        drop_connection(connection),
        save_workout(gone(SAMPLE_USER, workouts[0].activity_id, 2, now)),
        save_workouts(workouts[:24], connection),
        delete_workouts([delete(one) for one in workouts[:25]]),
        open_quarter(Tickets(user_id=SAMPLE_USER), 1, 1),
        count_look(SAMPLE_USER, 0, 1, 1),
        save_limit(RateLimit(client_id=_CLIENT, open_at=datetime.fromtimestamp(now, UTC))),
        save_subscription(Subscription(client_id=_CLIENT, subscription_id=1)),
        begin_login("s" * 22, "b" * 22, int(now)),
    ]


def _samples(kind: type[E], now: float) -> list[E]:
    return [write.entity for write in seed(now) if isinstance(write.entity, kind)]
