"""The countries API: its routes and parameters. Reads are public, writes need an operator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BeforeValidator, Field

from partita import AsyncSession, Procedure
from partita.errors import AlreadyExists, OperationError, UniqueTaken
from partita.http import (
    PROBLEM_MEDIA_TYPE,
    CurrentCaller,
    Db,
    FieldPaging,
    HttpProblem,
    IfMatch,
    IfNoneMatch,
    Now,
    Once,
    PartialListing,
    UnlessMatch,
    describe_problems,
    is_not_modified,
    known_parameters,
    once_by,
    operators_only,
    precondition_problems,
    refuse_key,
)
from partita.recipes.history import UNWRITTEN, FieldDifference
from partita.recipes.idempotency import Plan, StoredResponse
from partita_services.countries import archive, handlers
from partita_services.countries.handlers import CountryData, CountryGone, Edit, RestoredData, Status
from partita_services.countries.imports import apply, propose, read_csv
from partita_services.countries.iso import Event
from partita_services.countries.lists import ImportDraft, ImportOptions, Reason
from partita_services.countries.model import REQUESTS, Country
from partita_services.countries.responses import (
    REVALIDATED,
    Changes,
    ChangeView,
    Comparison,
    CountryVersion,
    FieldChange,
    GoneProblem,
    ImportResult,
    Matches,
    MatchView,
    caching,
    csv_text,
    version_tag,
)

ROUTER: Final = APIRouter(dependencies=[Depends(known_parameters)])

Compared: TypeAlias = tuple[Country, Country, tuple[FieldDifference, ...]]

_HOW_TO_WRITE: Final = "an instant is written as YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ"
_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", re.ASCII)


def _written_as_an_instant(value: object) -> object:
    # Pydantic would accept a number, too, and convert it to a time.
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise ValueError(_HOW_TO_WRITE)
    # In a query string, an unescaped plus is a space.
    text = value.replace(" ", "+") if "T" in value else value
    try:
        instant = datetime.fromisoformat(f"{text[:-1]}Z" if text.endswith("z") else text)
    except ValueError:  # in the terms of Python
        raise ValueError(f"there is no such day, time or offset; {_HOW_TO_WRITE}") from None
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
AsOf = Annotated[Instant | None, Query(description="the instant to read as of, in UTC unless it has an offset")]
OnceByCaller = Annotated[Once, Depends(once_by(REQUESTS))]
NO_KEY: Final = Depends(refuse_key)
OPERATORS: Final = Depends(operators_only)
WhichStatus = Annotated[Status | None, Query(description="the current countries, or the withdrawn ones")]
VersionNumber = Annotated[int, Path(ge=1, le=1_000_000, examples=[1])]


async def _edit(
    caller: CurrentCaller,
    reason: Annotated[
        Reason | None, Query(description="the reason, stored in the version", examples=["newsletter VI-16"])
    ] = None,
) -> Edit:
    return Edit(caller.user_id, reason)


CurrentEdit = Annotated[Edit, Depends(_edit)]
"""The author and the reason of a write."""


GONE: Final[dict[int | str, dict[str, Any]]] = {
    410: {"description": "No country has the code any more", "model": GoneProblem}
}
NOT_MODIFIED: Final[dict[int | str, dict[str, Any]]] = {304: {"description": "The client already has this version"}}
WRITES: Final = describe_problems(403, 409, 412)


class CountriesQuery(FieldPaging[CountryVersion]):
    """The query parameters of the list of countries."""

    prefix: str | None = Field(default=None, max_length=200, description="the beginning of a name, in any case")
    status: Status = Field(default=Status.CURRENT, description="the current countries, or the withdrawn ones")


@ROUTER.get("/countries", responses=describe_problems(400))
async def list_countries(
    db: Db, response: Response, wanted: Annotated[CountriesQuery, Query()]
) -> PartialListing[CountryVersion]:
    """The countries by name: the current or the withdrawn ones."""
    countries = wanted.fields.narrow(handlers.list_countries(wanted.prefix, wanted.status))
    page = await db.run(countries.page(wanted.limit, after=wanted.cursor))
    response.headers["Cache-Control"] = REVALIDATED
    return PartialListing.of(page, wanted.fields, CountryVersion.of)


@ROUTER.get("/countries.json")
async def export_json(
    db: Db, response: Response, as_of: AsOf = None, status: WhichStatus = None
) -> list[CountryVersion]:
    """All countries by name: the current ones, those of an instant, or the withdrawn ones."""
    countries = await _exported(db, as_of, status)
    response.headers["Cache-Control"] = REVALIDATED
    return [CountryVersion.of(country) for country in countries]


@ROUTER.get("/countries.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def export_csv(db: Db, as_of: AsOf = None, status: WhichStatus = None) -> Response:
    """All countries as CSV: the current ones, those of an instant, or the withdrawn ones."""
    countries = await _exported(db, as_of, status)
    headers = {"Cache-Control": REVALIDATED, "Content-Disposition": 'attachment; filename="countries.csv"'}
    return Response(csv_text(countries), headers=headers, media_type="text/csv")


@ROUTER.get("/search")
async def search(
    db: Db,
    response: Response,
    q: Annotated[
        str, Query(min_length=1, max_length=100, description="words of a name, or a code", examples=["Burma"])
    ],
) -> Matches:
    """The countries whose current or former name contains all the words, or which have or had the text as a code."""
    found = await db.run(archive.search(q))
    response.headers["Cache-Control"] = REVALIDATED
    return Matches(items=tuple(map(MatchView.of, found)))


class ChangesQuery(FieldPaging[ChangeView]):
    """The query parameters of the feed of changes."""

    newest: bool = Field(default=False, description="newest first, for display; `since` is ignored")
    since: Instant | None = Field(default=None, description="only versions written later", examples=["2026-01-01"])


@ROUTER.get("/changes", responses=describe_problems(400))
async def list_changes(db: Db, now: Now, response: Response, wanted: Annotated[ChangesQuery, Query()]) -> Changes:
    """A feed of every version in the order of writing. A version appears five seconds after it was written."""
    if wanted.newest:
        work = archive.latest_changes(wanted.limit, wanted.cursor)
    else:
        at = datetime.fromtimestamp(now, UTC)
        work = archive.changes(wanted.since or UNWRITTEN, at, wanted.limit, wanted.cursor)
    page = await db.run(work)
    response.headers["Cache-Control"] = REVALIDATED
    shown = wanted.fields.show(page.items, ChangeView.of)
    return Changes(items=shown, next_cursor=page.next_cursor, position=page.position)


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
async def show_history(
    db: Db, code: Code, wanted: Annotated[FieldPaging[CountryVersion], Query()], response: Response
) -> PartialListing[CountryVersion]:
    """All versions of the country that has a code or was the last to have it, newest first."""
    versions = wanted.fields.narrow(await db.run(handlers.history_of(code)))
    page = await db.run(versions.page(wanted.limit, after=wanted.cursor))
    response.headers["Cache-Control"] = REVALIDATED
    return PartialListing.of(page, wanted.fields, CountryVersion.of)


@ROUTER.get("/countries/{code}/diff", responses=describe_problems(404))
async def compare(
    db: Db,
    code: Code,
    response: Response,
    before: Annotated[Instant, Query(alias="from", examples=["2020-01-01"])],
    after: Annotated[Instant, Query(alias="to", examples=["2026-01-01"])],
) -> Comparison:
    """The fields that differ between the versions at two instants."""
    return await _compared(db, response, handlers.compare(code, before, after))


@ROUTER.get("/countries/{code}/versions/{before}/compare/{after}", responses=describe_problems(404))
async def compare_versions(
    db: Db, code: Code, before: VersionNumber, after: VersionNumber, response: Response
) -> Comparison:
    """The fields that differ between two versions of a country, given by their numbers."""
    return await _compared(db, response, handlers.compare(code, before, after))


@ROUTER.put(
    "/countries/{alpha2}",
    response_model=CountryVersion,
    responses={**WRITES, 201: {"model": CountryVersion, "description": "The country is new."}},
    dependencies=[OPERATORS],
)
async def write_country(
    once: OnceByCaller, edit: CurrentEdit, alpha2: Alpha2, data: CountryData, only: IfMatch, unless: UnlessMatch
) -> Response:
    """Create a country, or add a version to it."""
    plan = handlers.write_country(alpha2.upper(), data, only, unless, edit)
    try:
        with precondition_problems(only):
            return await once(_with_response(plan), _as_it_is)
    except AlreadyExists as exists:
        # If another writer has just created the country, only `If-None-Match: *` requires that it does not exist.
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
async def delete_country(once: OnceByCaller, edit: CurrentEdit, alpha2: Alpha2, only: IfMatch) -> Response:
    """Delete a country: this adds a version that is marked as deleted; all other versions stay."""
    with precondition_problems(only):
        return await once(_with_response(handlers.delete_country(alpha2.upper(), only, edit)), _as_it_is)


@ROUTER.post(
    "/countries/{alpha2}/restore",
    response_model=CountryVersion,
    responses={**WRITES, **describe_problems(404)},
    dependencies=[OPERATORS],
)
async def restore_country(
    once: OnceByCaller, edit: CurrentEdit, alpha2: Alpha2, only: IfMatch, data: RestoredData | None = None
) -> Response:
    """Restore a deleted country, with its last or new data; 409 if the country is not deleted and the data differs."""
    with precondition_problems(only):
        return await once(_with_response(handlers.restore_country(alpha2.upper(), data, only, edit)), _as_it_is)


@ROUTER.post("/imports", dependencies=[OPERATORS, NO_KEY], responses=describe_problems(403, 409))
async def import_list(db: Db, caller: CurrentCaller, draft: ImportDraft) -> ImportResult:
    """Show what a list would change; with `apply`, make the changes. The same list again changes nothing."""
    events = [country.event() for country in draft.countries]
    return await _imported(db, events, Edit(caller.user_id, draft.reason), whole=draft.whole, is_applied=draft.apply)


@ROUTER.post(
    "/imports.csv",
    dependencies=[OPERATORS, NO_KEY],
    responses=describe_problems(403, 409),
    openapi_extra={"requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def import_csv(
    db: Db, edit: CurrentEdit, request: Request, wanted: Annotated[ImportOptions, Query()]
) -> ImportResult:
    """Import a list as CSV, as the service exports it: alpha2Code, alpha3Code, numericCode and name."""
    try:
        events = read_csv((await request.body()).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise HttpProblem(422, "invalid_list", "The list is not UTF-8 text.") from error
    except OperationError as error:
        raise HttpProblem(422, "invalid_list", error.message, hint=error.hint or None) from error
    return await _imported(db, events, edit, whole=wanted.whole, is_applied=wanted.apply)


async def _imported(
    db: AsyncSession, events: Sequence[Event], edit: Edit, *, whole: bool, is_applied: bool
) -> ImportResult:
    try:
        proposals = await db.run(propose(events, whole=whole))
    except OperationError as error:
        raise HttpProblem(409, "import_refused", error.message, hint=error.hint or None) from error
    for proposal in proposals if is_applied else ():
        try:
            await db.run(apply(proposal.event, edit))
        except UniqueTaken:  # another country has got the code in the meantime
            raise
        except AlreadyExists:  # another writer has made the same change in the meantime
            continue
    return ImportResult.of(proposals, applied=is_applied)


async def _exported(db: AsyncSession, as_of: datetime | None, status: Status | None) -> Iterable[Country]:
    if as_of is None:
        return await db.run(handlers.export_all(status or Status.CURRENT))
    if status is not None:
        raise HttpProblem(422, "invalid_request", "The parameters as_of and status cannot be combined.")
    return await db.run(archive.list_as_of(as_of))


async def _compared(db: AsyncSession, response: Response, work: Procedure[Compared]) -> Comparison:
    old, new, differences = await db.run(work)
    response.headers["Cache-Control"] = caching(old, new)
    changes = tuple(FieldChange.of(difference) for difference in differences)
    return Comparison(before=CountryVersion.of(old), after=CountryVersion.of(new), changes=changes)


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
    return Response(
        problem.model_dump_json(exclude={"errors"}), 410, {"Cache-Control": REVALIDATED}, PROBLEM_MEDIA_TYPE
    )
