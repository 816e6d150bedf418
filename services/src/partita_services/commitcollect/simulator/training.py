"""Plausible workouts, which are reproducible from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from partita_services.commitcollect.simulator.world import UTC_OFFSET, Activity, Athlete

_DAY: Final = 86_400


class Sport(Struct, frozen=True):
    """The typical figures of workouts of a sport."""

    sport_type: str
    names: tuple[str, ...]
    kilometres: tuple[float, float]
    pace: tuple[float, float]
    """In seconds per kilometre."""
    climb: float
    """The maximum metres of elevation per kilometre."""


SPORTS: Final = {
    sport.sport_type: sport
    for sport in (
        Sport("Run", ("Morning Run", "Riverside loop", "Tempo run", "Easy miles", "Parkrun"), (5, 14), (290, 370), 9),
        Sport("TrailRun", ("Trails at Mount Coot-tha", "Ridge and creek"), (7, 18), (380, 480), 32),
        Sport("Ride", ("The long way to work", "Bay ride", "Coffee ride", "Hill repeats"), (18, 70), (120, 160), 11),
        Sport("Hike", ("Lookout hike", "Rainforest walk"), (6, 16), (720, 900), 45),
        Sport("Swim", ("Lap swim", "Bay swim"), (1, 3), (1100, 1400), 0),
        Sport("Walk", ("Evening Walk", "Lunch Walk"), (2, 6), (620, 760), 4),
    )
}

ATHLETES: Final = (
    Athlete(1001, "alex_runs", "Alex", "Runner"),
    Athlete(1002, "robin_rides", "Robin", "Rider"),
    Athlete(1003, "sam_hikes", "Sam", "Hiker"),
)
HABITS: Final = {
    1001: ("Run", "Run", "Run", "TrailRun", "Walk"),
    1002: ("Ride", "Ride", "Ride", "Run", "Swim"),
    1003: ("Hike", "Walk", "Hike", "Ride", "TrailRun"),
}
"""The sports of each athlete, repeated according to their frequency."""

_BEFORE_BREAKFAST: Final = 6 * 3600
_WEEKS: Final = 5
_WORKOUTS_A_WEEK: Final = 4


def workout(
    number: int, athlete_id: int, started_at: int, rng: random.Random, sport_type: str | None = None
) -> Activity:
    """Return a workout of an athlete, in one of the athlete's sports unless a sport is given."""
    sport = SPORTS[sport_type or rng.choice(HABITS[athlete_id])]
    distance = round(rng.uniform(*sport.kilometres), 2) * 1000
    moving = int(distance / 1000 * rng.uniform(*sport.pace))
    return Activity(
        id=number,
        athlete_id=athlete_id,
        name=rng.choice(sport.names),
        sport_type=sport.sport_type,
        started_at=started_at,
        distance=round(distance, 1),
        moving_time=moving,
        elapsed_time=moving + rng.randrange(20, 600),
        total_elevation_gain=round(distance / 1000 * rng.uniform(0, sport.climb), 1),
    )


def week(until: float, rng: random.Random) -> Iterator[int]:
    """Yield when the workouts of the seven days before an instant begin, earliest first."""
    today = (int(until) + UTC_OFFSET) // _DAY
    for day in sorted(rng.sample(range(1, 8), _WORKOUTS_A_WEEK)):
        yield (today - 8 + day) * _DAY - UTC_OFFSET + _BEFORE_BREAKFAST + rng.randrange(0, 5400)


def history(athlete_id: int, first_id: int, now: float, rng: random.Random) -> list[Activity]:
    """Return some weeks of workouts, of which one was entered by hand, one is flagged, and one is private."""
    starts = [start for weeks in range(_WEEKS, 0, -1) for start in week(now - (weeks - 1) * 7 * _DAY, rng)]
    made = [workout(first_id + number, athlete_id, start, rng) for number, start in enumerate(starts)]
    return [*made[:-6], *_exceptions(made[-6:])]


def _exceptions(latest: list[Activity]) -> list[Activity]:
    by_hand, flagged, private, *rest = latest
    return [
        replace(by_hand, name="Treadmill, from memory", manual=True),
        replace(flagged, name="Forgot to stop the watch on the bus", flagged=True),
        replace(private, visibility="only_me"),
        *rest,
    ]
