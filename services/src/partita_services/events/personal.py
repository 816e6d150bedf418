"""The data that Events stores about a user, and how it is erased: their requests, the logs and the locks.

A request that is undecided, has a seat or waits for one is cancelled first, by the rules of cancelling, so its seat
goes to the first who waits. Then it is deleted. Pages of a draw or of a waiting list keep only its id, which no longer
leads to anybody; so a draw can still be verified, and the order of the others is unchanged.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from partita import Action, Operation, Page, Procedure, Query, delete, f, retry_on_conflict
from partita.errors import IllegalTransition
from partita.operations import Context, Requests
from partita.recipes.idempotency import Plan
from partita.recipes.personal import PersonalData, PersonalItems
from partita.recipes.removal import Removal
from partita_services.events.cancelling import cancel
from partita_services.events.changes.model import Erased, erase_request
from partita_services.events.model import Lock, LogEntry, Request, lock_of, log_of, request_by_id, requests_of_user
from partita_services.events.queueing.failures import delete_lock
from partita_services.events.terms import OPEN, Reason, Status, instant

PAGE: Final = 100
MAX_ERASED: Final = 200
"""About how many requests one call erases at most: each takes several reads and up to two transactions."""


def erase_requests(user_id: str) -> Procedure[Removal]:
    """Erase a user's requests. If it is interrupted, the next call continues.

    Raises:
        IllegalTransition: some requests take part in a draw that is being held; all others are erased.
        Throttled: others change the seats of an event on every try.
    """
    erased, cursor, is_first = 0, None, True
    refused: IllegalTransition | None = None
    while is_first or cursor is not None:
        query = requests_of_user(user_id).page(PAGE, after=cursor)
        page, now = yield from _Dated(query, pattern=query.pattern)
        for request in page:
            try:
                erased += yield from _erase(request.request_id, user_id, now)
            except IllegalTransition as error:
                refused = error
        cursor, is_first = page.next_cursor, False
        if cursor is not None and erased >= MAX_ERASED:
            return Removal(erased, more=True)
    if refused is not None:
        raise refused
    return Removal(erased, more=False)


class _Dated(Operation[tuple[Page[Request], datetime]], frozen=True):
    """A page, and when it was read, which is used as the time at which its requests are cancelled."""

    query: Query[Request]

    def requests(self, context: Context) -> Requests[tuple[Page[Request], datetime]]:
        """The requests of the query."""
        page = yield from self.query.requests(context)
        return page, instant(context.clock())


def _erase(request_id: str, user_id: str, now: datetime) -> Procedure[int]:
    """Erase one request. Return 1, or 0 if it is already gone, which an index may not show yet."""

    def erase_once() -> Procedure[int]:
        request = yield from request_by_id(request_id).consistent()
        if request is None:
            return 0
        if _may_be_cancelled(request):
            request = yield from cancel(request_id, user_id, now)
        log = yield from log_of(request_id).consistent()
        steps = [delete(step) for step in log]
        lock = yield from _lock_actions(request)
        yield from erase_request(Plan(request, _delete_unchanged(request), *lock, *steps))
        return 1

    return (yield from retry_on_conflict(erase_once))


def _may_be_cancelled(request: Request) -> bool:
    """Whether the request may still get a seat, or has one."""
    return request.status in (*OPEN, Status.SUCCEEDED) or request.error_code == Reason.WAITING_LIST


def _lock_actions(request: Request) -> Procedure[tuple[Action, ...]]:
    """The action that deletes the user's lock, if the lock belongs to this request."""
    lock: Lock | None = yield from lock_of(request.event_id, request.user_id).consistent()
    if lock is None or lock.request_id != request.request_id:
        return ()
    return (delete_lock(request.event_id, request.user_id, request.request_id),)


def _delete_unchanged(request: Request) -> Action:
    """The action that deletes a request, unless it has changed in the meantime, which may have added to its log."""
    gone = delete(request_by_id(request.request_id)).when(f(Request.status).eq(request.status))
    return gone.when(f(Request.error_code).eq(request.error_code))


def _log(request: Request) -> Query[LogEntry]:
    return log_of(request.request_id)


PERSONAL: Final = PersonalData(
    PersonalItems(
        "requests",
        requests_of_user,
        erase=erase_requests,
        parts={"log": _log},
        also=(Lock,),
        fields=("idempotency_key", "display_name"),
    ),
    record=Erased,
)
