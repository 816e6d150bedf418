"""Delivery of events to the webhook: late, twice, in any order, and again after a failure."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final, TypeAlias

from msgspec.structs import replace

from partita.runtime import Clock
from partita_services.commitcollect.simulator.world import Chaos, Delivery, DeliveryOutcome, Event, World

ATTEMPTS: Final = 3
RETRY_SECONDS: Final = 3.0
CLAIM_SECONDS: Final = 30.0
"""How long a claimed delivery belongs to one process."""
OK: Final = 200
UNWANTED: Final = -1
"""Used as the status if there is no subscription any more."""
MAX_OUTCOMES: Final = 50
"""How many attempts are stored, for the page."""

Post: TypeAlias = Callable[[str, Event], Awaitable[int]]
"""Sends an event to an address, and returns the status of the response; 0 if there was none in time."""


class WebhookSender:
    """Sends events to the subscribed address."""

    def __init__(
        self,
        world: World,
        post: Post,
        clock: Clock,
        rng: random.Random,
        changing: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`changing` prevents other processes, which deliver too, from changing the world at the same time."""
        self._world = world
        self._post = post
        self._clock = clock
        self._rng = rng
        self._changing = changing

    @property
    def chaos(self) -> Chaos:
        """The failures of deliveries."""
        return self._world.chaos

    @chaos.setter
    def chaos(self, chaos: Chaos) -> None:
        self._world.chaos = chaos

    @property
    def outcomes(self) -> Sequence[DeliveryOutcome]:
        """The results of the last attempts."""
        return self._world.outcomes

    def send(self, event: Event) -> None:
        """Queue the deliveries of an event and its duplicates."""
        for _ in range(1 + self.chaos.duplicates):
            late = self._rng.uniform(0, self.chaos.spread)
            self._world.underway.append(Delivery(event, self._clock() + late))

    @property
    def next_due(self) -> float | None:
        """When the next delivery is due; None if there is none."""
        return min((delivery.due for delivery in self._world.underway), default=None)

    async def deliver(self) -> list[DeliveryOutcome]:
        """Make every attempt that is due now, in the order of their due times."""
        return [await self._deliver(delivery) for delivery in self._claimed()]

    def _claimed(self) -> list[Delivery]:
        """Claim the due deliveries for some time. If this process dies, they become due again after that."""
        with self._changing():
            now = self._clock()
            due = sorted((one for one in self._world.underway if one.due <= now), key=lambda one: one.due)
            claimed = [replace(delivery, due=now + CLAIM_SECONDS) for delivery in due]
            for delivery in due:
                self._world.underway.remove(delivery)
            self._world.underway.extend(claimed)
        return claimed

    async def _deliver(self, claimed: Delivery) -> DeliveryOutcome:
        outcome = await self._attempt(claimed)
        is_over = outcome.status in (OK, UNWANTED) or claimed.attempt >= ATTEMPTS
        with self._changing():
            with suppress(ValueError):  # it took so long that another process has claimed it
                self._world.underway.remove(claimed)
            if not is_over:
                again = self._clock() + RETRY_SECONDS * claimed.attempt
                self._world.underway.append(Delivery(claimed.event, again, claimed.attempt + 1))
            status = 0 if outcome.status == UNWANTED else outcome.status
            outcome = replace(outcome, status=status)
            self._world.outcomes = [*self._world.outcomes, outcome][-MAX_OUTCOMES:]
        return outcome

    async def _attempt(self, delivery: Delivery) -> DeliveryOutcome:
        subscription = self._world.subscription
        if subscription is None or subscription.id != delivery.event.subscription_id:
            return DeliveryOutcome(delivery.event, delivery.attempt, UNWANTED, self._clock())
        is_lost = self._rng.random() < self.chaos.failures
        status = 0 if is_lost else await self._post(subscription.callback_url, delivery.event)
        return DeliveryOutcome(delivery.event, delivery.attempt, status, self._clock())
