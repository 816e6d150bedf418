"""The worker: it receives jobs from the queue, runs them, and postpones those that cannot be done yet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from partita import Session
from partita.errors import PoisonMessage
from partita.queue import MAX_HIDDEN_SECONDS, Acknowledge, BodyDecoder, Message, Postpone, Receive
from partita.service import WorkerContext
from partita_services.commitcollect.audit import AUDIT
from partita_services.commitcollect.jobs.announcing import Announcer
from partita_services.commitcollect.jobs.backfill import BackfillJob, backfill_page
from partita_services.commitcollect.jobs.disconnect import DisconnectJob, disconnect
from partita_services.commitcollect.jobs.erasure import EraseJob, erase
from partita_services.commitcollect.jobs.ingest import ActivityJob, EventJob, process_event, read_again
from partita_services.commitcollect.jobs.subscription import SubscribeJob, renew_subscription, subscribe
from partita_services.commitcollect.strava.interface import StravaError
from partita_services.commitcollect.work import Application, Job, Tools, TryLater, Work, do

logger: Final = logging.getLogger("partita.commitcollect")

VISIBLE_AFTER: Final = 60.0
"""Longer than one job takes, including all the responses of Strava that it may wait for. After this time the queue
delivers the job of a dead worker again; until then, further jobs of its athlete wait."""
MAX_PAUSE: Final = 900.0
WAIT_SECONDS: Final = 1.0

JOBS: Final[Mapping[type[Job], Callable[[Application, Any], Work[Any]]]] = {
    EventJob: process_event,
    ActivityJob: read_again,
    BackfillJob: backfill_page,
    SubscribeJob: subscribe,
    DisconnectJob: disconnect,
    EraseJob: erase,
}
"""The function that runs each kind of job."""

BODIES: Final = BodyDecoder(*JOBS)


def run(context: WorkerContext[Tools]) -> None:
    """Run jobs until the worker has to stop."""
    db, tools = context.session, context.resources
    do(renew_subscription(tools.application, context.name), db, tools)
    announcer = Announcer(db, tools)
    lost = 0
    while not context.stop.is_set():
        done = work_once(db, tools, wait=WAIT_SECONDS)
        announcer.announce(is_due=done > 0)
        lost = _warn_of_lost_records(db, lost)


def _warn_of_lost_records(db: Session, before: int) -> int:
    """Log how many audit records were lost since the last call. The meter counts them, too."""
    lost = AUDIT.dropped(db.meter)
    if lost > before:
        logger.warning("%d audit records could not be written.", lost - before)
    return lost


def work_once(db: Session, tools: Tools, *, wait: float = 0.0) -> int:
    """Receive and run a job; return how many there were."""
    messages = tools.queue.execute(Receive(limit=1, wait=wait, visibility=VISIBLE_AFTER))
    for message in messages:
        pause = _pause_after(message, db, tools)
        done = Acknowledge((message.receipt,)) if pause is None else Postpone((message.receipt,), pause)
        tools.queue.execute(done)
    return len(messages)


def _pause_after(message: Message, db: Session, tools: Tools) -> float | None:
    """Run a job; return None if it is done, otherwise after how many seconds to try again."""
    try:
        job = BODIES.decode(message.body)
        do(JOBS[type(job)](tools.application, job), db, tools)
    except TryLater as later:
        return min(later.seconds, MAX_HIDDEN_SECONDS)  # one long pause, because each delivery counts as a try
    except (StravaError, PoisonMessage) as trouble:
        logger.warning("A CommitCollect job will be tried again: %s", trouble)
    except Exception:  # any failure of one job must not stop the others
        logger.exception("A CommitCollect job failed and will be tried again.")
    else:
        return None
    return min(2.0**message.receives, MAX_PAUSE)
