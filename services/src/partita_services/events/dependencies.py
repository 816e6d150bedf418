"""The dependencies of the events routes: ids, the time, the sender of accepted requests, the projection."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from fastapi import Depends, Path

from partita.http import Caller, CurrentState, Db, Role, ServiceState, operators_only, refuse_key
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.queueing.sender import QueueSender
from partita_services.events.queueing.tools import Tools
from partita_services.events.terms import instant

OPERATORS: Final = Depends(operators_only)
NO_KEY: Final = Depends(refuse_key)
_IDENTIFIER: Final = "01K9ZQ3V7M2Y8R4C6T1XWNB5HD"
EventId = Annotated[str, Path(max_length=64, examples=[_IDENTIFIER])]
RequestId = Annotated[str, Path(max_length=64, examples=[_IDENTIFIER])]


async def _now(db: Db) -> datetime:
    return instant(db.context.clock())


def sender_of(state: ServiceState[Tools]) -> QueueSender:
    """The sender of a server's requests, of which there is one per server."""
    return QueueSender(state.session, state.resources.queue)


async def _current_sender(state: CurrentState[Tools]) -> QueueSender:
    return state.singleton(sender_of)


async def _projection_if_open(state: CurrentState[Tools]) -> RequestProjection | None:
    """The projection, if this server keeps it up to date."""
    return None if state.projection is None else state.projection.sink


Now = Annotated[datetime, Depends(_now)]
Sender = Annotated[QueueSender, Depends(_current_sender)]
OptionalProjection = Annotated[RequestProjection | None, Depends(_projection_if_open)]


def reader(caller: Caller) -> str | None:
    """The user whose requests a caller may read; None for those of all users."""
    return None if caller.role is Role.OPERATOR else caller.user_id
