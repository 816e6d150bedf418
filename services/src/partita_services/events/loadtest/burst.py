"""The burst: very many users apply at once, some of them more than once, and none gives up at the first trouble."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Final

import msgspec
from msgspec import Struct

from partita._aws import AnswerLost, HttpAnswer, HttpCall, LoopTransport, NotSent
from partita.errors import RequestError
from partita.store.remote import Limits
from partita_services.events.loadtest.audit import Answered

ACCEPTED: Final = 202
FOUND: Final = 200
_SERVER_FAULT: Final = 500
_PAUSE_SECONDS: Final = 0.1


class _Told(Struct, frozen=True, rename="camel"):
    request_id: str


class Burst(Struct, frozen=True):
    """Who applies where, and how patiently."""

    url: str
    """Where to apply."""
    applications: Sequence[str]
    """The users, in the order in which they send; who sends twice is in it twice."""
    token: Callable[[str], str]
    """Gives the token of a user."""
    connections: int
    patience: float
    """For so many seconds a user tries again while the service does not answer."""


def applications(users: Sequence[str], duplicates: float, random: Random) -> list[str]:
    """Every user once and some of them twice, in any order."""
    again = random.sample(users, round(len(users) * duplicates))
    together = [*users, *again]
    random.shuffle(together)
    return together


async def apply_all(burst: Burst, done: Callable[[int], None]) -> list[Answered]:
    """Send all applications, so many at once as there are connections; `done` hears of each that was answered.

    Raises:
        RequestError: the service refuses them.
    """
    transport = LoopTransport(Limits(connections=burst.connections, wait=burst.patience, read=30.0))
    waiting = iter(burst.applications)
    answers: list[Answered] = []
    senders = [_apply_some(burst, transport, waiting, answers, done) for _ in range(burst.connections)]
    try:
        await asyncio.gather(*senders)
    finally:
        transport.close()
    return answers


async def _apply_some(
    burst: Burst, transport: LoopTransport, users: Iterator[str], answers: list[Answered], done: Callable[[int], None]
) -> None:
    for user in users:
        answered = await _apply(burst, transport, user)
        if answered is not None:
            answers.append(answered)
        done(1)


async def _apply(burst: Burst, transport: LoopTransport, user: str) -> Answered | None:
    """One application, sent again until it is answered; None when the patience is at its end."""
    call = HttpCall(burst.url, {"Authorization": f"Bearer {burst.token(user)}"}, b"")
    deadline = time.monotonic() + burst.patience
    while time.monotonic() < deadline:
        began = time.perf_counter()
        try:
            answer = await transport.send_async(call)
        except (NotSent, AnswerLost):
            await asyncio.sleep(_PAUSE_SECONDS)
            continue
        if answer.status >= _SERVER_FAULT:
            await asyncio.sleep(_PAUSE_SECONDS)
            continue
        return _read(user, answer, time.perf_counter() - began)
    return None


def _read(user: str, answer: HttpAnswer, seconds: float) -> Answered:
    if answer.status not in (ACCEPTED, FOUND):
        raise RequestError(f"The service refuses: {answer.status} {bytes(answer.body).decode(errors='replace')[:300]}")
    told = msgspec.json.decode(answer.body, type=_Told)
    return Answered(user, told.request_id, answer.status == ACCEPTED, seconds)


def user_names(count: int) -> Iterable[str]:
    """The users of a storm."""
    return (f"storm-{number:06}" for number in range(count))
