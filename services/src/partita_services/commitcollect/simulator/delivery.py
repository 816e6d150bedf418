"""Delivery of events to the webhook: late, twice, in any order, and again when it failed."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from msgspec import Struct

from partita.runtime import Clock
from partita_services.commitcollect.simulator.world import Delivery, Event, World

ATTEMPTS: Final = 3
RETRY_SECONDS: Final = 3.0
OK: Final = 200
MAX_OUTCOMES: Final = 50
"""How many attempts are remembered, for the page."""

Post: TypeAlias = Callable[[str, Event], Awaitable[int]]
"""Sends an event to an address, and gives the status of the response; 0 where there was none in time."""


class Chaos(Struct, frozen=True):
    """What goes wrong on the way."""

    duplicates: int = 0
    """How many more times each event is sent."""
    spread: float = 0.0
    """By how many seconds a delivery may be late, so that events overtake each other."""
    failures: float = 0.0
    """The probability that an attempt is lost."""


class DeliveryOutcome(Struct, frozen=True):
    """What became of an attempt."""

    event: Event
    attempt: int
    status: int
    at: float


class WebhookSender:
    """Sends events to the subscribed address."""

    def __init__(self, world: World, post: Post, clock: Clock, rng: random.Random) -> None:
        self.chaos = Chaos()
        self.outcomes: deque[DeliveryOutcome] = deque(maxlen=MAX_OUTCOMES)
        self._world = world
        self._post = post
        self._clock = clock
        self._rng = rng

    def send(self, event: Event) -> None:
        """Put an event on its way, with its duplicates."""
        for _ in range(1 + self.chaos.duplicates):
            late = self._rng.uniform(0, self.chaos.spread)
            self._world.underway.append(Delivery(event, self._clock() + late))

    @property
    def next_due(self) -> float | None:
        """When there is something to deliver."""
        return min((delivery.due for delivery in self._world.underway), default=None)

    async def deliver(self) -> list[DeliveryOutcome]:
        """Make every attempt that is due now, in the order in which they are."""
        now = self._clock()
        due = sorted((one for one in self._world.underway if one.due <= now), key=lambda one: one.due)
        for delivery in due:
            self._world.underway.remove(delivery)
        outcomes = [await self._attempt(delivery) for delivery in due]
        self.outcomes.extend(outcomes)
        return outcomes

    async def _attempt(self, delivery: Delivery) -> DeliveryOutcome:
        subscription = self._world.subscription
        if subscription is None or subscription.id != delivery.event.subscription_id:
            return DeliveryOutcome(delivery.event, delivery.attempt, 0, self._clock())
        is_lost = self._rng.random() < self.chaos.failures
        status = 0 if is_lost else await self._post(subscription.callback_url, delivery.event)
        if status != OK and delivery.attempt < ATTEMPTS:
            again = self._clock() + RETRY_SECONDS * delivery.attempt
            self._world.underway.append(Delivery(delivery.event, again, delivery.attempt + 1))
        return DeliveryOutcome(delivery.event, delivery.attempt, status, self._clock())
