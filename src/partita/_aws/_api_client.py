"""One API call: it is signed and sent, its response is checked, and it is sent again if that is certainly safe."""

from __future__ import annotations

import threading
import zlib
from email.utils import parsedate_to_datetime
from itertools import count
from random import Random
from typing import Any, Final

from msgspec import Struct

from partita._aws._credentials import Credentials, CredentialSource
from partita._aws._endpoints import ITEMS, SEARCHES, Api, Endpoint, Endpoints
from partita._aws._failures import EXPIRED, SKEWED, UNKNOWN, Failure, failure_of
from partita._aws._runner import Calls, LoadCredentials
from partita._aws._transport import HttpRequest, HttpResponse, RequestNotSent, ResponseLost
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
CAP_SECONDS: Final = 2.0
"""The longest pause before a call is retried: shorter than that of a session, which retries calls that fail here."""


class ApiCall(Struct, frozen=True):
    """One API call. A `repeatable` call is idempotent, so it may be sent again after its response was lost."""

    name: str
    body: bytes
    repeatable: bool = False
    writes: bool = False
    api: Api = ITEMS
    searches: bool = False
    """Whether AWS serves the call at its endpoint for searches."""


class RetryBudget:
    """A budget of retries that all calls share, so that retries do not overload a store in trouble.

    Each retry costs some of the budget, and each success earns a little back.
    """

    CAPACITY: Final = 500
    COST: Final = 5

    def __init__(self) -> None:
        self._left = self.CAPACITY
        self._lock = threading.Lock()

    def spend(self) -> bool:
        """Pay for a retry, if enough is left."""
        with self._lock:
            if self._left < self.COST:
                return False
            self._left -= self.COST
            return True

    def earn(self) -> None:
        """Add a little to the budget after a call succeeded."""
        if self._left < self.CAPACITY:
            with self._lock:
                self._left = min(self._left + 1, self.CAPACITY)


class ApiClient:
    """Sends the calls of one store or queue, each at most `tries` times."""

    def __init__(
        self, endpoints: Endpoints, credentials: CredentialSource, clock: Clock, random: Random, tries: int
    ) -> None:
        self._endpoints = endpoints
        self._credentials = credentials
        self._clock = clock
        self._random = random
        self._retry = RetryPolicy(tries, cap_seconds=CAP_SECONDS)
        self._budget = RetryBudget()
        self._skew = 0.0

    def send(self, call: ApiCall) -> Calls[Any]:
        """Send the call and return the body of its response.

        Raises:
            RequestError: the endpoint refused the call. StoreUnavailable: whether it was executed is unknown.
        """
        corrected = False
        lost: StoreUnavailable | None = None  # an earlier try whose response was lost may have been executed
        for attempt in count(1):
            try:
                response: HttpResponse = yield (yield from self._signed(call))
            except (RequestNotSent, ResponseLost) as cause:
                error: PartitaError = self._unavailable(call, cause)
                may_retry = call.repeatable or isinstance(cause, RequestNotSent)
                lost = lost if isinstance(cause, RequestNotSent) else self._unavailable(call, cause)
            else:
                if response.status == OK and _is_intact(response):
                    self._budget.earn()
                    return response.body
                failure = _failure(response, call)
                if not corrected and self._correct(failure, response):
                    corrected = True
                    continue
                error, may_retry = failure.error, _may_retry(call, failure.error)
                lost = error if isinstance(error, StoreUnavailable) else lost
            if not may_retry or attempt >= self._retry.tries or not self._budget.spend():
                raise (lost if lost and call.writes and not _settles(error) else error)
            yield self._retry.pause_before(attempt, self._random)
        raise AssertionError  # `count` never ends

    def _signed(self, call: ApiCall) -> Calls[HttpRequest]:
        credentials: Credentials = self._credentials.ready() or (yield LoadCredentials())
        endpoint = self._endpoint(call)
        now = self._clock() + self._skew
        headers = endpoint.signer.headers(f"{call.api}.{call.name}", call.body, credentials, now)
        return HttpRequest(endpoint.url, headers, call.body)

    def _endpoint(self, call: ApiCall) -> Endpoint:
        return self._endpoints[SEARCHES if call.searches else call.api]

    def _unavailable(self, call: ApiCall, cause: RequestNotSent | ResponseLost) -> StoreUnavailable:
        if isinstance(cause, RequestNotSent):
            url = self._endpoint(call).url
            hint = f"Nothing was sent. {cause.hint}".rstrip()
            error = StoreUnavailable(f"The endpoint {url} cannot be reached: {cause}.", hint=hint)
        else:
            hint = "" if call.repeatable else UNKNOWN
            error = StoreUnavailable(f"The store did not respond to {call.name}: {cause}.", hint=hint)
        error.__cause__ = cause
        return error

    def _correct(self, failure: Failure, response: HttpResponse) -> bool:
        """Correct an expired token or a wrong local clock, for which a signature was refused; return whether it was."""
        if failure.name in EXPIRED:
            self._credentials.forget()
            return True
        if failure.name not in SKEWED:
            return False
        skew = _skew(response, self._clock())
        if skew is None or abs(skew - self._skew) < SKEW_SECONDS:
            return False
        self._skew = skew
        return True


def _is_intact(response: HttpResponse) -> bool:
    checksum = response.header("x-amz-crc32")
    return checksum is None or checksum == str(zlib.crc32(response.body))


def _failure(response: HttpResponse, call: ApiCall) -> Failure:
    if response.status == OK or not _is_intact(response):
        return Failure("", StoreUnavailable("The store's response arrived damaged.", hint=UNKNOWN))
    return failure_of(response, call.api)


def _may_retry(call: ApiCall, error: PartitaError) -> bool:
    if isinstance(error, Throttled | TransactionConflict | TokenInProgress):
        return True
    if isinstance(error, TransactionCancelled):
        codes = {reason.code for reason in error.reasons}
        return "TransactionConflict" in codes and codes <= {"None", "TransactionConflict"}
    return isinstance(error, StoreUnavailable) and call.repeatable


def _settles(error: PartitaError) -> bool:
    """Whether an error also shows the outcome of an earlier try whose response was lost."""
    return isinstance(error, TransactionCancelled) and all(
        reason.code != "TransactionConflict" for reason in error.reasons
    )


def _skew(response: HttpResponse, now: float) -> float | None:
    """By how many seconds the endpoint's clock is ahead of the local one, from the date of its response."""
    try:
        return parsedate_to_datetime(response.header("date") or "").timestamp() - now
    except ValueError:
        return None
