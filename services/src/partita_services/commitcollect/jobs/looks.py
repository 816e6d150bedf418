"""How often the events of one athlete make us read Strava: a share of what Strava allows for all.

Whoever sends events, and however many, the reads that are left are those of the others. What is over the share waits
for the next window of Strava's limits, in order, and is not lost. The count is in the same item as the tickets, so a
look costs no write of its own.
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
    """Count a read that an event asks for; gives its ticket.

    Raises:
        TryLater: the athlete's events have had their share, or another worker counts at the same time.
        ItemMissing: there is no such user any more.
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
