"""The countries API: from HTTP to the handlers and back. Reads are public, writes need an operator."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BeforeValidator

from partita import Procedure
from partita.errors import AlreadyExists, UniqueTaken
from partita.http import (
    PROBLEM_MEDIA_TYPE,
    Db,
    HttpProblem,
    IfMatch,
    IfNoneMatch,
    Once,
    Paging,
    UnlessMatch,
    describe_problems,
    is_not_modified,
    once_by,
    operators_only,
    precondition_problems,
)
from partita.recipes.idempotency import Plan, StoredResponse
from partita_services.countries import handlers
from partita_services.countries.handlers import CountryData, CountryGone
from partita_services.countries.model import REQUESTS, Country
from partita_services.countries.responses import (
    REVALIDATED,
    Comparison,
    CountryVersion,
    FieldChange,
    GoneProblem,
    Versions,
    caching,
    csv_text,
    version_tag,
)

ROUTER: Final = APIRouter()

_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", re.ASCII)


def _written_as_an_instant(value: object) -> object:
    # Pydantic would take a number, too, and read it as a time.
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise ValueError("an instant is written as YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ")
    # In a query string, a bare plus is a space.
    instant = datetime.fromisoformat(value.replace(" ", "+") if "T" in value else value)
    try:
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("the instant is out of range") from None


Instant = Annotated[datetime, BeforeValidator(_written_as_an_instant)]
Code = Annotated[
    str,
    Path(
        pattern=r"^([A-Za-z]{2,3}|[0-9]{3})$",
        description="alpha-2, alpha-3 or numeric, in any case",
        examples=["BO", "bol", "068"],
    ),
]
Alpha2 = Annotated[str, Path(pattern=r"^[A-Za-z]{2}$", examples=["BO"])]
AsOf = Annotated[Instant | None, Query(description="the instant to ask for, in UTC unless it says otherwise")]
OnceByCaller = Annotated[Once, Depends(once_by(REQUESTS))]
OPERATORS: Final = Depends(operators_only)
GONE: Final[dict[int | str, dict[str, Any]]] = {
    410: {"description": "No country has the code any more", "model": GoneProblem}
}
NOT_MODIFIED: Final[dict[int | str, dict[str, Any]]] = {304: {"description": "The caller's version is current"}}
WRITES: Final = describe_problems(403, 409, 412)


@ROUTER.get("/countries", responses=describe_problems(400))
async def list_countries(
    db: Db,
    response: Response,
    paging: Annotated[Paging, Query()],
    prefix: Annotated[str | None, Query(max_length=200, description="the beginning of a name, in any case")] = None,
) -> Versions:
    """The current countries by name."""
    page = await db.run(handlers.list_countries(prefix).page(paging.limit, after=paging.cursor))
    response.headers["Cache-Control"] = REVALIDATED
    return Versions.of(page.items, page.next_cursor)


@ROUTER.get("/countries.json")
async def export_json(db: Db, response: Response) -> list[CountryVersion]:
    """All current countries by name."""
    countries = await db.run(handlers.export_all())
    response.headers["Cache-Control"] = REVALIDATED
    return [CountryVersion.of(country) for country in countries]


@ROUTER.get("/countries.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def export_csv(db: Db) -> Response:
    """All current countries by name, as a table."""
    countries = await db.run(handlers.export_all())
    headers = {"Cache-Control": REVALIDATED, "Content-Disposition": 'attachment; filename="countries.csv"'}
    return Response(csv_text(countries), headers=headers, media_type="text/csv")


@ROUTER.get(
    "/countries/{code}",
    response_model=CountryVersion,
    responses={**describe_problems(404), **GONE, **NOT_MODIFIED},
)
async def show_country(db: Db, code: Code, as_of: AsOf = None, if_none_match: IfNoneMatch = None) -> Response:
    """The country that has a code, now or at an instant."""
    try:
        country = await db.run(handlers.show_country(code, as_of))
    except CountryGone as gone:
        return _gone(gone)
    headers = {"ETag": version_tag(country), "Cache-Control": REVALIDATED if as_of is None else caching(country)}
    if is_not_modified(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(CountryVersion.of(country).model_dump_json(), 200, headers, "application/json")


@ROUTER.get("/countries/{code}/history", responses=describe_problems(400, 404))
async def show_history(db: Db, code: Code, paging: Annotated[Paging, Query()], response: Response) -> Versions:
    """All versions of the country that has a code, or had it last, newest first."""
    versions, cursor = await db.run(handlers.show_history(code, paging.limit, paging.cursor))
    response.headers["Cache-Control"] = REVALIDATED
    return Versions.of(versions, cursor)


@ROUTER.get("/countries/{code}/diff", responses=describe_problems(404))
async def compare(
    db: Db,
    code: Code,
    response: Response,
    before: Annotated[Instant, Query(alias="from", examples=["2020-01-01"])],
    after: Annotated[Instant, Query(alias="to", examples=["2026-01-01"])],
) -> Comparison:
    """In what the versions of two instants differ."""
    old, new, differences = await db.run(handlers.compare(code, before, after))
    response.headers["Cache-Control"] = caching(old, new)
    changes = tuple(FieldChange.of(difference) for difference in differences)
    return Comparison(before=CountryVersion.of(old), after=CountryVersion.of(new), changes=changes)


@ROUTER.put(
    "/countries/{alpha2}",
    response_model=CountryVersion,
    responses={**WRITES, 201: {"model": CountryVersion, "description": "The country is new."}},
    dependencies=[OPERATORS],
)
async def write_country(
    once: OnceByCaller, alpha2: Alpha2, data: CountryData, only: IfMatch, unless: UnlessMatch
) -> Response:
    """Create a country, or add a version to it."""
    plan = handlers.write_country(alpha2.upper(), data, only, unless)
    try:
        with precondition_problems(only):
            return await once(_with_response(plan), _as_it_is)
    except AlreadyExists as exists:
        # Where another writer has just created the country, only `*` says that it must not exist.
        is_allowed = exists.current is None and (unless is None or unless.versions is not None)
        if is_allowed or isinstance(exists, UniqueTaken):
            raise
        raise HttpProblem(412, "precondition_failed", exists.message) from exists


@ROUTER.delete(
    "/countries/{alpha2}",
    response_model=CountryVersion,
    responses={**WRITES, **describe_problems(404)},
    dependencies=[OPERATORS],
)
async def delete_country(once: OnceByCaller, alpha2: Alpha2, only: IfMatch) -> Response:
    """Delete a country: its next version says so, and all others stay."""
    with precondition_problems(only):
        return await once(_with_response(handlers.delete_country(alpha2.upper(), only)), _as_it_is)


@ROUTER.post(
    "/countries/{alpha2}/restore",
    response_model=CountryVersion,
    responses={**WRITES, **describe_problems(404)},
    dependencies=[OPERATORS],
)
async def restore_country(
    once: OnceByCaller, alpha2: Alpha2, only: IfMatch, data: CountryData | None = None
) -> Response:
    """Restore a deleted country, as it was or with new data. One that is not deleted has to say the same already."""
    with precondition_problems(only):
        return await once(_with_response(handlers.restore_country(alpha2.upper(), data, only)), _as_it_is)


def _with_response(plan: Procedure[Plan[Country]]) -> Procedure[Plan[StoredResponse]]:
    planned = yield from plan
    country = planned.result
    is_new = country.number == 1 and bool(planned.actions)
    status, headers = 201 if is_new else 200, {"ETag": version_tag(country)}
    return planned.giving(StoredResponse.of(CountryVersion.of(country), status=status, headers=headers))


def _as_it_is(answer: StoredResponse) -> StoredResponse:
    return answer


def _gone(gone: CountryGone) -> Response:
    problem = GoneProblem(
        title="Gone",
        status=410,
        code=gone.code,
        detail=gone.message,
        hint="`country` is the last version that had the code.",
        country=CountryVersion.of(gone.current),
    )
    return Response(problem.model_dump_json(), 410, {"Cache-Control": REVALIDATED}, PROBLEM_MEDIA_TYPE)
