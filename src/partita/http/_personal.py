"""Routes for a caller's personal data: its export as one file, and its erasure.

add_personal_routes(ROUTER, PERSONAL, "todo")      # GET and DELETE /me/data
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from partita import AsyncSession
from partita.http._dependencies import Db, Now, current_caller
from partita.http._idempotent import refuse_key
from partita.http._problems import describe_problems
from partita.http.identity import Caller
from partita.recipes.personal import PersonalData

PATH: Final = "/me/data"


class ErasureView(BaseModel):
    """The result of an erasure. If `more` is true, call again: there may be items left."""

    erased: dict[str, int] = Field(description="erased items of each kind", examples=[{"tasks": 12, "profile": 1}])
    more: bool
    stays: dict[str, str] = Field(description="the kinds of items that are kept, and why")
    remains: dict[str, str] = Field(
        description="where copies of erased data remain, and until when",
        examples=[{"change stream": "old images, until 2026-01-02T12:00:00Z"}],
    )


def add_personal_routes(
    router: APIRouter,
    personal: PersonalData,
    service: str,
    *,
    caller: Callable[..., Any] = current_caller,
    erase: bool = True,
) -> None:
    """Add the routes `GET /me/data` and `DELETE /me/data` to a service.

    Args:
        router: the routes of the service.
        personal: the data that the service keeps of each user.
        service: the name of the service, which is written into the file.
        caller: the dependency that returns the `Caller`; by default it reads the token of the request.
        erase: whether to add `DELETE`; False for a service that erases users in another way.
    """
    whose = Depends(caller)
    described = {"content": {"application/json": {"schema": _schema(personal)}}, "description": "The file."}

    @router.get(PATH, response_class=StreamingResponse, responses={200: described})
    async def export_my_data(db: Db, now: Now, caller: Caller = whose) -> StreamingResponse:
        """Download all data that the service keeps of the caller, as a JSON file."""
        parts = _export(personal, service, caller.user_id, now, db)
        first = await anext(parts)  # if the data cannot be read at all, respond with a problem, not half of a file
        headers = {"Content-Disposition": f'attachment; filename="{service}-data.json"'}
        return StreamingResponse(_after(first, parts), media_type="application/json", headers=headers)

    if erase:

        @router.delete(PATH, dependencies=[Depends(refuse_key)], responses=describe_problems(409))
        async def erase_my_data(db: Db, now: Now, caller: Caller = whose) -> ErasureView:
            """Permanently erase the data that the service keeps of the caller. It is safe to repeat this request.

            409: some of the data cannot be erased at the moment; try again later.
            """
            erasure = await db.run(personal.erase(caller.user_id))
            return ErasureView(
                erased=dict(erasure.erased), more=erasure.more, stays=personal.stays, remains=personal.remains(now)
            )


async def _export(personal: PersonalData, service: str, user_id: str, now: int, db: AsyncSession) -> AsyncIterator[str]:
    """Yield the file in pieces, so that its size is not limited by memory."""
    at = datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z")
    head = msgspec.json.encode({"service": service, "user_id": user_id, "exported_at": at}).decode()
    text = head[:-1] + ',"data":{'
    for number, items in enumerate(personal.items):
        text += f"{',' if number else ''}{msgspec.json.encode(items.name).decode()}:["
        comma, cursor, more = "", None, True
        while more:
            page, cursor = await db.run(personal.page(items, user_id, cursor))
            for item in page:
                text += comma + msgspec.json.encode(item).decode()
                comma = ",\n"
            yield text
            text, more = "", cursor is not None
        text = "]"
    yield text + "}}\n"


async def _after(first: str, rest: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for part in rest:
        yield part


def _schema(personal: PersonalData) -> dict[str, Any]:
    kinds = {items.name: {"type": "array", "items": {"type": "object"}} for items in personal.items}
    data = {"type": "object", "properties": kinds, "required": list(kinds)}
    text = {"type": "string"}
    return {
        "type": "object",
        "properties": {"service": text, "user_id": text, "exported_at": text, "data": data},
        "required": ["service", "user_id", "exported_at", "data"],
    }
