"""One call on its way: signed, sent, judged, and sent again where that is certainly safe."""

from __future__ import annotations

import zlib
from email.utils import parsedate_to_datetime
from itertools import count
from random import Random
from typing import Any, Final

from msgspec import Struct

from partita._aws._credentials import Credentials, CredentialSource
from partita._aws._endpoints import ITEMS, Api, Endpoints
from partita._aws._failures import EXPIRED, SKEWED, UNKNOWN, Failure, failure_of
from partita._aws._retry import RetryBudget
from partita._aws._steps import LoadCredentials, Steps
from partita._aws._transport import AnswerLost, HttpAnswer, HttpCall, NotSent
from partita.errors import (
    PartitaError,
    StoreUnavailable,
    Throttled,
    TokenInProgress,
    TransactionCancelled,
    TransactionConflict,
)
from partita.runtime import Clock, RetryPolicy

OK: Final = 200
SKEW_SECONDS: Final = 30.0


class Call(Struct, frozen=True):
    """One API call. `repeatable`: doing it twice is the same as once, so a lost answer may be asked for again."""

    name: str
    body: bytes
    repeatable: bool = False
    writes: bool = False
    api: Api = ITEMS


class Attempts:
    """Sends the calls of one store."""

    def __init__(
        self, endpoints: Endpoints, credentials: CredentialSource, clock: Clock, random: Random, policy: RetryPolicy
    ) -> None:
        self._endpoints = endpoints
        self._credentials = credentials
        self._clock = clock
        self._random = random
        self._policy = policy
        self._budget = RetryBudget()
        self._skew = 0.0

    def send(self, call: Call) -> Steps[Any]:
        """The body of the answer.

        Raises:
            RequestError: the endpoint refused it. StoreUnavailable: whether it happened is unknown.
        """
        corrected = False
        lost: StoreUnavailable | None = None
        for attempt in count(1):
            try:
                answer: HttpAnswer = yield (yield from self._signed(call))
            except (NotSent, AnswerLost) as cause:
                error: PartitaError = _unavailable(call, cause)
                may_retry = call.repeatable or isinstance(cause, NotSent)
                lost = lost if isinstance(cause, NotSent) else _unavailable(call, cause)
            else:
                if answer.status == OK and _is_whole(answer):
                    self._budget.give_back()
                    return answer.body
                failure = _judged(answer, call)
                if not corrected and self._correct(failure, answer):
                    corrected = True
                    continue
                error, may_retry = failure.error, _may_retry(call, failure.error)
                lost = error if isinstance(error, StoreUnavailable) else lost
            if not may_retry or attempt >= self._policy.tries or not self._budget.take():
                raise (lost if lost and call.writes and not _settles(error) else error)
            yield self._policy.pause_before(attempt, self._random)
        raise AssertionError  # the count has no end

    def _signed(self, call: Call) -> Steps[HttpCall]:
        credentials: Credentials = self._credentials.ready() or (yield LoadCredentials())
        endpoint = self._endpoints[call.api]
        now = self._clock() + self._skew
        headers = endpoint.signer.headers(f"{call.api}.{call.name}", call.body, credentials, now)
        return HttpCall(endpoint.url, headers, call.body)

    def _correct(self, failure: Failure, answer: HttpAnswer) -> bool:
        """Mend what made the endpoint refuse the signature: an old token, or a clock that is wrong here."""
        if failure.name in EXPIRED:
            self._credentials.forget()
            return True
        if failure.name not in SKEWED:
            return False
        skew = _skew(answer, self._clock())
        if skew is None or abs(skew - self._skew) < SKEW_SECONDS:
            return False
        self._skew = skew
        return True


def _unavailable(call: Call, lost: NotSent | AnswerLost) -> StoreUnavailable:
    if isinstance(lost, NotSent):
        error = StoreUnavailable(f"The store cannot be reached: {lost}.", hint="Nothing was sent.")
    else:
        hint = "" if call.repeatable else UNKNOWN
        error = StoreUnavailable(f"The store did not answer {call.name}: {lost}.", hint=hint)
    error.__cause__ = lost
    return error


def _is_whole(answer: HttpAnswer) -> bool:
    checksum = answer.header("x-amz-crc32")
    return checksum is None or checksum == str(zlib.crc32(answer.body))


def _judged(answer: HttpAnswer, call: Call) -> Failure:
    if answer.status == OK or not _is_whole(answer):
        return Failure("", StoreUnavailable("The store's answer arrived damaged.", hint=UNKNOWN))
    return failure_of(answer, call.api)


def _may_retry(call: Call, error: PartitaError) -> bool:
    if isinstance(error, Throttled | TransactionConflict | TokenInProgress):
        return True
    return isinstance(error, StoreUnavailable) and call.repeatable


def _settles(error: PartitaError) -> bool:
    """Whether an error also tells what became of an earlier try, whose answer was lost."""
    return isinstance(error, TransactionCancelled) and all(
        reason.code != "TransactionConflict" for reason in error.reasons
    )


def _skew(answer: HttpAnswer, now: float) -> float | None:
    """How far the endpoint's clock is ahead of ours, by the date of its answer."""
    try:
        return parsedate_to_datetime(answer.header("date") or "").timestamp() - now
    except ValueError:
        return None
