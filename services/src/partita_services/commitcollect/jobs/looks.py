"""The limit of reads of Strava that the events of one athlete cause: a share of the application's limits.

The remaining reads are available for other athletes, however many events somebody sends. Events over the share wait for
the next window of Strava's limits; they stay in order, and none is lost. The count is in the same item as the tickets,
so counting costs no additional write.
"""

from __future__ import annotations

from typing import Final

from partita.errors import ConditionFailed, ItemMissing
from partita_services.commitcollect.jobs.webhook_limits import LOOKS_PER_DAY, LOOKS_PER_QUARTER
from partita_services.commitcollect.strava.model import Tickets
from partita_services.commitcollect.work import Application, TryLater, Work
from partita_services.commitcollect.writes import count_look, open_quarter

QUARTER: Final = 900
QUARTERS_PER_DAY: Final = 96
BUSY_SECONDS: Final = 1.0


def take_look(app: Application, user_id: str) -> Work[int]:
    """Count a read after an event, and return its ticket.

    Raises:
        TryLater: the athlete's events have used their share, or another worker counts at the same time.
        ItemMissing: the user does not exist any more.
    """
    quarter = int(app.clock()) // QUARTER
    try:
        return (yield from count_look(user_id, quarter, LOOKS_PER_QUARTER, LOOKS_PER_DAY)).issued
    except ItemMissing:
        raise
    except ConditionFailed as failed:
        before: Tickets = failed.current
    today = before.looks_today if _day_of(before.quarter) == _day_of(quarter) else 0
    if today >= LOOKS_PER_DAY:
        raise TryLater((_day_of(quarter) + 1) * QUARTERS_PER_DAY * QUARTER - app.clock())
    if before.quarter == quarter:
        raise TryLater((quarter + 1) * QUARTER - app.clock())
    try:
        return (yield from open_quarter(before, quarter, today + 1)).issued
    except ConditionFailed as failed:
        raise TryLater(BUSY_SECONDS) from failed


def _day_of(quarter: int) -> int:
    return quarter // QUARTERS_PER_DAY
