"""Parts of routes that read a projection of the service's changes and report its lag behind the table."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from typing_extensions import TypeVar

from partita.change import SqliteProjection
from partita.http._problems import HttpProblem
from partita.http._state import state_of
from partita.service import OpenProjection

P = TypeVar("P", bound=SqliteProjection)


class LagView(BaseModel):
    """The lag of a projection behind its table."""

    records: int = Field(description="number of changes that were not read yet", examples=[0])
    seconds: float = Field(description="age of the oldest unread change", examples=[0.0])

    @classmethod
    async def of(cls, projection: OpenProjection[Any]) -> LagView:
        """Return the current lag. Call this before you read the projection: what you read later never lags more."""
        lag = await run_in_threadpool(projection.consumer.lag)
        return cls(records=lag.records, seconds=round(lag.seconds, 3))


async def _projection(request: Request) -> OpenProjection[Any]:
    projection = state_of(request).projection
    if projection is None:
        hint = "Ask the operator to run `partita serve`, which reads the changes."
        raise HttpProblem(503, "not_projected", "This server does not read the changes of the service.", hint=hint)
    return projection


CurrentProjection = Annotated[OpenProjection[P], Depends(_projection)]
"""The service's projection: `tasks: CurrentProjection[TaskProjection]`; 503 if no process keeps it up to date."""
