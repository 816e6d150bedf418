"""The routes of draws."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from partita.http import CurrentCaller, Db, describe_problems
from partita_services.events.dependencies import NO_KEY, OPERATORS, EventId, Now
from partita_services.events.draws import draw
from partita_services.events.responses import DrawEntropy, DrawView

ROUTER: Final = APIRouter()


@ROUTER.post("/events/{event_id}/draw", dependencies=[OPERATORS, NO_KEY], responses=describe_problems(403, 404, 409))
async def hold_draw(db: Db, now: Now, event_id: EventId, outside: DrawEntropy | None = None) -> DrawView:
    """Hold the draw of a closed lottery. Repeating the call changes nothing.

    A lottery with an entropy source first freezes its entries, and is drawn when the value is supplied.
    """
    entropy = None if outside is None else outside.entropy
    return DrawView.of(await db.run(draw.hold_draw(event_id, now, entropy)))


@ROUTER.get("/events/{event_id}/draw", responses=describe_problems(404, 409))
async def show_draw(caller: CurrentCaller, db: Db, event_id: EventId) -> DrawView:  # noqa: ARG001 - 401
    """The draw of a lottery, with everything needed to verify it once it is held."""
    return DrawView.of(await db.run(draw.show_draw(event_id)))
