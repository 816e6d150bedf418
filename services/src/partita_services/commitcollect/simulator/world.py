"""The state of the simulator: athletes, their activities and grants, the subscription, and deliveries."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows, where one process serves
    fcntl = None  # type: ignore[assignment]

logger: Final = logging.getLogger("partita.commitcollect")

UTC_OFFSET: Final = 36_000
"""All athletes live in Brisbane, which has no daylight saving time."""
TIME_ZONE: Final = "(GMT+10:00) Australia/Brisbane"

EVERYONE: Final = "everyone"
ONLY_ME: Final = "only_me"


class Application(Struct, frozen=True):
    """The program that is registered with Strava."""

    client_id: str
    client_secret: str


class Athlete(Struct, frozen=True):
    """A person with an account at Strava."""

    id: int
    username: str
    firstname: str
    lastname: str

    def shown(self) -> dict[str, Any]:
        """The athlete as Strava's API shows it."""
        return {**msgspec.structs.asdict(self), "resource_state": 2, "city": "Brisbane", "country": "Australia"}


class Activity(Struct, frozen=True):
    """A workout, under the names of Strava's API."""

    id: int
    athlete_id: int
    name: str
    sport_type: str
    started_at: int
    distance: float
    """In metres."""
    moving_time: int
    """In seconds."""
    elapsed_time: int
    total_elevation_gain: float
    """In metres."""
    manual: bool = False
    flagged: bool = False
    visibility: str = EVERYONE

    @property
    def private(self) -> bool:
        """Whether only the athlete sees it."""
        return self.visibility == ONLY_ME

    def shown(self) -> dict[str, Any]:
        """The activity as Strava's API shows it."""
        speed = round(self.distance / self.moving_time, 3) if self.moving_time else 0.0
        known = msgspec.structs.asdict(self)
        del known["athlete_id"], known["started_at"]
        return {
            **known,
            "resource_state": 2,
            "athlete": {"id": self.athlete_id, "resource_state": 1},
            "type": self.sport_type,
            "start_date": _instant(self.started_at),
            # Strava writes the local time with the same letter, although it is not UTC.
            "start_date_local": _instant(self.started_at + UTC_OFFSET),
            "timezone": TIME_ZONE,
            "utc_offset": float(UTC_OFFSET),
            "private": self.private,
            "average_speed": speed,
        }


class Code(Struct, frozen=True):
    """The code of an athlete's approval, which can be exchanged once."""

    code: str
    athlete_id: int
    scopes: tuple[str, ...]
    expires_at: float


class Grant(Struct, frozen=True):
    """The scopes that an athlete granted to the application, with the tokens that are valid now."""

    athlete_id: int
    scopes: tuple[str, ...]
    access_token: str
    refresh_token: str
    expires_at: int


class Subscription(Struct, frozen=True):
    """The address to which events are sent."""

    id: int
    callback_url: str
    created_at: int


class Event(Struct, frozen=True):
    """An event for the webhook, with Strava's field names. It is not signed and has no id."""

    object_type: str
    object_id: int
    aspect_type: str
    updates: dict[str, str]
    owner_id: int
    subscription_id: int
    event_time: int


class Delivery(Struct, frozen=True):
    """An event that is to be delivered."""

    event: Event
    due: float
    attempt: int = 1


class Chaos(Struct, frozen=True):
    """The failures of deliveries."""

    duplicates: int = 0
    """How many additional times each event is sent."""
    spread: float = 0.0
    """The maximum delay of a delivery in seconds, by which events can overtake each other."""
    failures: float = 0.0
    """The probability that an attempt is lost."""


class DeliveryOutcome(Struct, frozen=True):
    """The result of an attempt."""

    event: Event
    attempt: int
    status: int
    at: float


class World(Struct):
    """The state of the simulator. It changes in place, and is saved after each change."""

    athletes: dict[int, Athlete] = {}
    activities: dict[int, Activity] = {}
    codes: dict[str, Code] = {}
    grants: dict[int, Grant] = {}
    """The grants by athlete."""
    subscription: Subscription | None = None
    underway: list[Delivery] = []
    sent: list[Event] = msgspec.field(name="told", default_factory=list)
    """The newest events, so that they can be sent again."""
    last_id: int = 15_000_000_000
    chaos: Chaos = Chaos()
    outcomes: list[DeliveryOutcome] = []
    """The results of the last attempts, for the page."""
    requests: dict[str, int] = {}
    """The number of requests of each kind in each window of the limits."""

    def become(self, other: World) -> None:
        """Copy the state of another world, so that references to this one see it."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(other, name))


class WorldFile:
    """The file of a world that several processes share. A change holds an exclusive lock, and loads the file first."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: tuple[int, int] | None = None

    def refresh(self, world: World) -> None:
        """Load the file into the world, if another process has written it."""
        seen = self._state()
        if seen is not None and seen != self._seen and (saved := load(self._file)) is not None:
            world.become(saved)
        self._seen = seen

    @contextmanager
    def changing(self, world: World) -> Iterator[None]:
        """Change the world in the block, which must not wait for anything, and save it afterwards."""
        with _alone(self._file.with_name(f"{self._file.name}.lock")):
            self.refresh(world)
            yield
            self.save(world)

    def save(self, world: World) -> None:
        """Write the world."""
        save(world, self._file)
        self._seen = self._state()

    def _state(self) -> tuple[int, int] | None:
        """Return a value that differs when the file was replaced; None if there is no file."""
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Keep other processes out while the block runs."""
    with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)) as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def load(file: Path) -> World | None:
    """Return the saved world, or None. A file that cannot be read is renamed, so that the server can still start."""
    if not file.exists():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=World)
    except msgspec.MsgspecError as error:
        aside = file.replace(file.with_name(f"{file.name}.unreadable"))
        logger.warning("The Strava simulator starts with a new state: %s cannot be read (%s).", aside, error)
        return None


def save(world: World, file: Path) -> None:
    """Write the world atomically, readable for its owner only."""
    handle, unfinished = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "wb") as written:
        written.write(msgspec.json.encode(world))
    Path(unfinished).replace(file)


def _instant(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
