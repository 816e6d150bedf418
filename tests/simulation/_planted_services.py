"""Bugs that the services had, or might have had: each function puts one back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from partita import Procedure, Transaction, Update, f, put, transact, update
from partita.recipes.idempotency import Command, CommandOutcome, Idempotency, run_plan
from partita_services.commitcollect.milestones import awarding, progress
from partita_services.commitcollect.model import (
    Award,
    Milestone,
    MilestoneLife,
    MilestoneStatus,
    Progress,
    milestone_by_id,
)
from partita_services.events import cancelling
from partita_services.events.model import LEASES, Event, Seats, seats_of
from partita_services.events.queueing import decisions, sweeper
from partita_services.events.terms import Reason
from partita_services.events.transitions import Attempt, QueuePlace, lost


def seats_for_arrivals() -> AbstractContextManager[object]:
    """A freed seat is taken by the next arrival, and not by the waiting list."""

    def remaining(event: Event, seats: Seats) -> int:
        return seats.remaining

    def nobody(event: Event, seats: Seats, wanted: int) -> Procedure[tuple[int, list[Any]]]:
        yield from ()
        return seats.next_waiting, []

    stack = ExitStack()
    stack.enter_context(patch.object(decisions, "free_for_arrivals", remaining))
    stack.enter_context(patch.object(cancelling, "next_waiting", nobody))
    return stack


def no_fence() -> AbstractContextManager[object]:
    """A worker decides without checking whether another worker has decided in the meantime."""

    def taking(seats: Seats, after: Seats) -> Any:
        names = (Seats.remaining, Seats.entered, Seats.listed, Seats.last_queued_at, Seats.updated_at)
        values = (after.remaining, after.entered, after.listed, after.last_queued_at, after.updated_at)
        changes = [f(name).set(value) for name, value in zip(names, values, strict=True)]
        return update(seats_of(seats.event_id), *changes)

    return patch.object(decisions, "_taking", taking)


def left_behind() -> AbstractContextManager[object]:
    """The sweeper finds no stuck requests."""
    return patch.object(sweeper.Sweeper, "_stuck", lambda *_: [])


def entry_rejected() -> AbstractContextManager[object]:
    """A redelivered entry is treated as if it arrived after the beginning of the draw."""

    def too_late(event: Event, place: QueuePlace, attempt: Attempt) -> tuple[Any, ...]:
        return lost(event, place, attempt, Reason.CLOSED)

    return patch.object(decisions, "too_late", too_late)


def frozen_lease() -> AbstractContextManager[object]:
    """A lease that was acquired while a clock was ahead is held until that time."""
    return patch.object(LEASES, "_longest", timedelta(days=3_650))


def no_record() -> AbstractContextManager[object]:
    """Commands have no idempotency records."""

    def run(self: Any, command: Command, plan: Any, respond: Any) -> Procedure[CommandOutcome[Any]]:
        result = yield from run_plan(plan)
        return CommandOutcome(respond(result), result=result)

    return patch.object(Idempotency, "run", run)


def progress_taken_back() -> AbstractContextManager[object]:
    """The progress of a milestone is not stored, but measured again after the milestone has ended."""

    def advance(milestone: Milestone, earned: int, _: Progress, at: datetime) -> Update[Milestone]:
        earned_now = f(Milestone.parts_earned).set(earned)
        if earned < milestone.parts_total:
            return update(milestone, earned_now)
        return MilestoneLife.complete(milestone, earned_now, f(Milestone.completed_at).set(at))

    stack = ExitStack()
    stack.enter_context(patch.object(awarding, "_advance", advance))
    stack.enter_context(patch.object(progress, "_complete", lambda _, counted: counted))
    return stack


def award_over_another() -> AbstractContextManager[object]:
    """Parts are awarded without checking whether another worker has done so, or whether the milestone has ended."""

    def advance(milestone: Milestone, earned: int, _: Progress, at: datetime) -> Update[Milestone]:
        changes = [f(Milestone.parts_earned).set(earned)]
        if earned == milestone.parts_total:
            changes += [f(Milestone.status).set(MilestoneStatus.COMPLETED), f(Milestone.completed_at).set(at)]
        return update(milestone_by_id(milestone.user_id, milestone.milestone_id), *changes)

    def award_parts(milestone: Update[Milestone], awards: Sequence[Award], notices: Sequence[Any] = ()) -> Transaction:
        return transact(milestone, *(put(award) for award in awards), *notices)

    stack = ExitStack()
    stack.enter_context(patch.object(awarding, "_advance", advance))
    stack.enter_context(patch.object(awarding, "award_parts", award_parts))
    return stack
