"""The routes of models: everybody may read them, operators load and retire them."""

from __future__ import annotations

import hashlib
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Response

from partita.errors import ItemMissing
from partita.http import (
    CurrentCaller,
    Db,
    HttpProblem,
    IfNoneMatch,
    Now,
    describe_problems,
    is_not_modified,
    operators_only,
    refuse_key,
)
from partita_services.commitcollect.audit import AUDIT, ModelLoaded, ModelRetired
from partita_services.commitcollect.collectibles.definition import ModelContent, ModelDefinition, ModelId
from partita_services.commitcollect.collectibles.loading import PartsChanged, all_models, load_model, retire
from partita_services.commitcollect.collectibles.model import picture_of
from partita_services.commitcollect.responses import Loaded, Models, ModelView, Retired
from partita_services.commitcollect.signin.browser import CurrentTrace, same_site

ROUTER: Final = APIRouter(dependencies=[Depends(same_site)], responses=describe_problems(403))

OPERATORS: Final = Depends(operators_only)
NO_KEY: Final = Depends(refuse_key)
ModelPath = Annotated[ModelId, Path(examples=["lighthouse"])]
SVG: Final = "image/svg+xml"
ALONE: Final = {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}
"""A picture that is opened directly is a page of this origin, so it must not be able to run or load anything."""


@ROUTER.get("/models")
async def list_models(db: Db) -> Models:
    """All models with their parts, including retired ones."""
    return Models(items=tuple(ModelView.of(found) for found in await db.run(all_models())))


@ROUTER.get(
    "/models/{model_id}/picture",
    response_class=Response,
    responses={
        200: {"content": {SVG: {"schema": {"type": "string"}}}},
        304: {"description": "Not modified"},
        **describe_problems(404),
    },
)
async def show_picture(db: Db, model_id: ModelPath, if_none_match: IfNoneMatch = None) -> Response:
    """The picture of a model, as SVG with a group for each part."""
    picture = await db.run(picture_of(model_id))
    if picture is None:
        raise ItemMissing(f"There is no model {model_id}.")
    tag = f'"{hashlib.sha256(picture.svg.encode()).hexdigest()[:32]}"'
    headers = {**ALONE, "ETag": tag, "Cache-Control": "no-cache"}
    if is_not_modified(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(picture.svg, media_type=SVG, headers=headers)


@ROUTER.put("/models/{model_id}", dependencies=[OPERATORS, NO_KEY], responses=describe_problems(409))
async def load(
    db: Db, caller: CurrentCaller, trace: CurrentTrace, model_id: ModelPath, content: ModelContent
) -> Loaded:
    """Load a model, for operators: add a new one, or replace the texts and the picture of an existing one."""
    definition = ModelDefinition(model_id=model_id, **content.model_dump())
    try:
        outcome = await db.run(load_model(definition))
    except PartsChanged as refused:
        raise HttpProblem(409, "parts_changed", refused.message, hint=refused.hint) from refused
    event = ModelLoaded(model=model_id, outcome=outcome)
    await db.run(AUDIT.append(event, user_id=caller.user_id, trace=trace))
    return Loaded(outcome=outcome)


@ROUTER.post("/models/{model_id}/retire", dependencies=[OPERATORS, NO_KEY], responses=describe_problems(404))
async def retire_model(db: Db, now: Now, caller: CurrentCaller, trace: CurrentTrace, model_id: ModelPath) -> Retired:
    """Retire a model, for operators: no new milestone can use it. Existing milestones continue."""
    retired = await db.run(retire(model_id, now))
    await db.run(AUDIT.append(ModelRetired(model=model_id), user_id=caller.user_id, trace=trace))
    return Retired(model_id=model_id, retired_at=retired.retired_at)
