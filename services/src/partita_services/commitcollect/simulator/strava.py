"""Strava without HTTP: athletes train, grant and revoke; the application reads activities and receives events."""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from partita.runtime import Clock, system_clock
from partita_services.commitcollect.simulator.delivery import Post, WebhookSender
from partita_services.commitcollect.simulator.faults import bad_request, not_found
from partita_services.commitcollect.simulator.limits import RateLimits
from partita_services.commitcollect.simulator.oauth import READ_ALL, OAuth
from partita_services.commitcollect.simulator.training import ATHLETES, history, week, workout
from partita_services.commitcollect.simulator.webhook import post_event
from partita_services.commitcollect.simulator.world import (
    Activity,
    Application,
    Event,
    Grant,
    Subscription,
    World,
    WorldFile,
    load,
)

MAX_PER_PAGE: Final = 200
MAX_SENT: Final = 100
"""How many events are stored, to send them again."""


class SimulatedStrava:
    """The part of Strava that CommitCollect needs. An object belongs to one event loop; processes share its file.

    Args:
        application: the registered application.
        file: where the state is stored; None keeps it in memory only.
        clock: the current time.
        rng: the random source of workouts, tokens and failures.
        post: sends an event to a webhook.
    """

    def __init__(
        self,
        application: Application,
        *,
        file: Path | None = None,
        clock: Clock = system_clock,
        rng: random.Random | None = None,
        post: Post = post_event,
    ) -> None:
        self.clock = clock
        self._rng = rng or random.SystemRandom()
        self._file = None if file is None else WorldFile(file)
        self.world = (load(file) if file else None) or _new_world(clock())
        self.oauth = OAuth(self.world, application, clock, self._rng)
        self.limits = RateLimits(clock, self.world)
        self.webhook = WebhookSender(self.world, post, clock, self._rng, self.changing)

    def changing(self) -> AbstractContextManager[None]:
        """Change the state in the block, which must not await anything; other processes wait, then see the change."""
        return nullcontext() if self._file is None else self._file.changing(self.world)

    def refresh(self) -> None:
        """Load changes of other processes."""
        if self._file is not None:
            self._file.refresh(self.world)

    def save(self) -> None:
        """Store the state."""
        if self._file is not None:
            self._file.save(self.world)

    # --- what the application reads

    def activities(self, grant: Grant, *, before: int, after: int | None, page: int, per_page: int) -> list[Activity]:
        """Return a page of the activities that a grant shows: newest first, or oldest first if `after` is set."""
        shown = [one for one in self._shown_to(grant) if (after or 0) < one.started_at < before]
        shown.sort(key=lambda one: (one.started_at, one.id), reverse=after is None)
        size = min(per_page, MAX_PER_PAGE)
        return shown[(page - 1) * size : page * size]

    def activity(self, grant: Grant, activity_id: int) -> Activity:
        """Return one activity.

        Raises:
            StravaFault: there is no such activity that the grant shows.
        """
        for activity in self._shown_to(grant):
            if activity.id == activity_id:
                return activity
        raise not_found("Activity")

    def _shown_to(self, grant: Grant) -> Iterable[Activity]:
        own = (one for one in self.world.activities.values() if one.athlete_id == grant.athlete_id)
        return (one for one in own if _shows(grant, one))

    # --- the application's subscription

    def new_challenge(self) -> str:
        """Return a challenge, which an address has to return before events are sent to it."""
        return self._rng.randbytes(8).hex()

    def subscribe(self, callback_url: str) -> Subscription:
        """Subscribe an address to events.

        Raises:
            StravaFault: there is a subscription already.
        """
        if self.world.subscription is not None:
            raise bad_request("PushSubscription", "", "already exists")
        self.world.subscription = Subscription(self._rng.randrange(100_000, 999_999), callback_url, int(self.clock()))
        return self.world.subscription

    def unsubscribe(self, subscription_id: int) -> None:
        """End the subscription.

        Raises:
            StravaFault: there is no such subscription.
        """
        if self.world.subscription is None or self.world.subscription.id != subscription_id:
            raise not_found("PushSubscription")
        self.world.subscription = None

    def deauthorize(self, athlete_id: int) -> None:
        """End an athlete's grant and its tokens."""
        if self.world.grants.get(athlete_id) is not None:
            self._notify(athlete_id, "athlete", athlete_id, "update", {"authorized": "false"})
            del self.world.grants[athlete_id]

    # --- what athletes do

    def train(self, athlete_id: int, sport_type: str | None = None, **given: Any) -> Activity:
        """Add a workout that has just ended; fields that are not given are generated."""
        made = workout(self._next_id(), athlete_id, 0, self._rng, sport_type)
        elapsed = given.get("moving_time", made.elapsed_time)
        just_now = {"elapsed_time": elapsed, "started_at": int(self.clock()) - elapsed}
        return self._add(replace(made, **(just_now | given)))

    def train_a_week(self, athlete_id: int) -> list[Activity]:
        """Add workouts in the last seven days."""
        starts = list(week(self.clock(), self._rng))
        return [self._add(workout(self._next_id(), athlete_id, start, self._rng)) for start in starts]

    def change(self, activity_id: int, **changes: Any) -> Activity:
        """Edit an activity, flag it, or change who sees it.

        Raises:
            StravaFault: there is no such activity.
        """
        before = self._existing(activity_id)
        after = self.world.activities[activity_id] = replace(before, **changes)
        was_shown, is_shown = self._is_shown(before), self._is_shown(after)
        if was_shown and is_shown:
            self._notify_of(after, "update", _updates(before, after))
        elif was_shown or is_shown:
            self._notify_of(after, "create" if is_shown else "delete")
        return after

    def delete(self, activity_id: int) -> None:
        """Delete an activity.

        Raises:
            StravaFault: there is no such activity.
        """
        activity = self._existing(activity_id)
        del self.world.activities[activity_id]
        if self._is_shown(activity):
            self._notify_of(activity, "delete")

    def send_again(self, number: int) -> int:
        """Send the newest events again, and return how many there were."""
        again = self.world.sent[-number:]
        for event in again:
            self.webhook.send(event)
        return len(again)

    def _add(self, activity: Activity) -> Activity:
        self.world.activities[activity.id] = activity
        if self._is_shown(activity):
            self._notify_of(activity, "create")
        return activity

    def _existing(self, activity_id: int) -> Activity:
        activity = self.world.activities.get(activity_id)
        if activity is None:
            raise not_found("Activity")
        return activity

    def _next_id(self) -> int:
        self.world.last_id += self._rng.randrange(1, 5000)
        return self.world.last_id

    # --- events

    def _is_shown(self, activity: Activity) -> bool:
        grant = self.world.grants.get(activity.athlete_id)
        return grant is not None and _shows(grant, activity)

    def _notify_of(self, activity: Activity, aspect: str, updates: dict[str, str] | None = None) -> None:
        self._notify(activity.athlete_id, "activity", activity.id, aspect, updates or {})

    def _notify(self, owner: int, kind: str, number: int, aspect: str, updates: dict[str, str]) -> None:
        """Send an event, if there is a subscription."""
        subscription = self.world.subscription
        if subscription is None:
            return
        event = Event(kind, number, aspect, updates, owner, subscription.id, int(self.clock()))
        self.world.sent = [*self.world.sent, event][-MAX_SENT:]
        self.webhook.send(event)


def _shows(grant: Grant, activity: Activity) -> bool:
    return not activity.private or READ_ALL in grant.scopes


def _updates(before: Activity, after: Activity) -> dict[str, str]:
    updates = {}
    if before.name != after.name:
        updates["title"] = after.name
    if before.sport_type != after.sport_type:
        updates["type"] = after.sport_type
    if before.private != after.private:
        updates["private"] = str(after.private).lower()
    return updates


def _new_world(now: float) -> World:
    world = World(athletes={athlete.id: athlete for athlete in ATHLETES})
    for athlete in ATHLETES:
        past = history(athlete.id, world.last_id + 1, now, random.Random(athlete.id))  # noqa: S311 - always the same
        world.activities.update((activity.id, activity) for activity in past)
        world.last_id = past[-1].id
    return world
