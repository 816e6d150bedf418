"""Routes that read what is kept up from a change stream, and say how far behind it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from partita.http._problems import Refusal
from partita.service import Projected


class Behind(BaseModel):
    """How far what was read is behind the table."""

    records: int = Field(description="changes that were not read yet", examples=[0])
    seconds: float = Field(description="the age of the oldest of them", examples=[0.0])

    @classmethod
    async def now(cls, projected: Projected) -> Behind:
        """As it is at the moment. Ask before reading: what is read later is never further behind than that."""
        lag = await run_in_threadpool(projected.consumer.lag)
        return cls(records=lag.records, seconds=round(lag.seconds, 3))


def _projected(request: Request) -> Projected:
    projected: Projected | None = request.app.state.projected
    if projected is None:
        hint = "Ask the operator to run `partita serve`, which reads the changes."
        raise Refusal(503, "not_projected", "Nobody reads the changes of this service here.", hint=hint)
    return projected


ProjectedState = Annotated[Projected, Depends(_projected)]
"""The service's projection and its consumer; 503 where nobody keeps it up."""
