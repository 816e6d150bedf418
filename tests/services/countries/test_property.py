"""Concurrent writes and crashes of operators: versions tile time, and every code belongs to at most one country."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from tests.recipes.interleaving import CRASHED, empty_db, play

from partita import Procedure, Session
from partita.errors import ConditionFailed, ItemMissing
from partita.recipes.idempotency import Command, CommandOutcome, StoredResponse, fingerprint
from partita.testing import FakeClock
from partita_services.countries import handlers
from partita_services.countries.handlers import CountryData, CountryGone, RestoredData
from partita_services.countries.http import _with_response
from partita_services.countries.model import HISTORY, REQUESTS, TABLE, Country, active_countries, claim_on_code
from partita_services.countries.responses import CountryVersion

ALPHA2 = ("AA", "BB", "CC")
ALPHA3 = ("AAA", "BBB")
NUMERIC = ("001", "002")
TICK = timedelta(microseconds=1)


class RestlessClock(FakeClock):
    """An unreliable clock: on each call it stands still, moves forward or steps back at random."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random

    def __call__(self) -> float:
        self.advance(self._random.choice((0.0, 0.0, 0.000001, 0.5, 60.0, -0.25, -45.0)))
        return super().__call__()


class Write(Struct, frozen=True):
    """A write that an operator requests."""

    verb: str
    alpha2: str
    data: CountryData

    def command(self, key: str) -> Procedure[CommandOutcome[StoredResponse]]:
        """Return the write with an idempotency key as a procedure, as the route runs it."""
        plan = {
            "put": lambda: handlers.write_country(self.alpha2, self.data),
            "delete": lambda: handlers.delete_country(self.alpha2),
            "restore": lambda: handlers.restore_country(self.alpha2, None),
            "restore with": lambda: handlers.restore_country(self.alpha2, RestoredData(**self.data.model_dump())),
        }[self.verb]()
        command = Command("ada", key, fingerprint(repr(self)))
        return REQUESTS.run(command, _with_response(plan), _same)


def _same(response: StoredResponse) -> StoredResponse:
    return response


class Said(Struct, frozen=True):
    """A version according to the response to its writer."""

    created: datetime
    content: tuple[str, str | None, str]
    deleted: bool

    def has(self, code: str) -> bool:
        return code in self.content


Model: TypeAlias = dict[str, list[Said]]
"""The versions of each country, oldest first, according to the responses to writers."""

CODES = {"AA": ("AAA", "001"), "BB": ("BBB", "002"), "CC": ("AAA", "002")}


def write(verb: str, alpha2: str, name: str, codes_of: str) -> Write:
    alpha3, numeric = CODES[codes_of or alpha2]
    return Write(verb, alpha2, CountryData(name=name, alpha3=alpha3, numeric=numeric))


# Few countries and codes, so that writers conflict: most writes change the name, and some the codes.
writes = st.builds(
    write,
    st.sampled_from(["put", "put", "put", "put", "delete", "restore", "restore with"]),
    st.sampled_from(["AA", "AA", "BB", "CC"]),
    st.sampled_from(["One", "Two", "Three"]),
    st.sampled_from(["", "", *ALPHA2]),
)
rounds = st.lists(
    st.tuples(
        st.lists(writes, min_size=1, max_size=3),
        st.integers(0, 2),  # how many writers crash
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.req("R10", "R02", "R03", "R04")
@settings(max_examples=200, deadline=None)
@given(st.sampled_from([(), ("AA",), ("AA", "BB")]), rounds, st.integers(0, 2**32))
def test_versions_tile_time_and_every_instant_agrees_with_a_model(
    there: tuple[str, ...], moves: list[Any], rng: int
) -> None:
    random = Random(rng)
    clock = RestlessClock(random)
    model: Model = {alpha2: [] for alpha2 in ALPHA2}
    with empty_db([TABLE], clock) as db:
        learn(model, [again(db, write("put", alpha2, "Zero", ""), alpha2) for alpha2 in there])
        for number, (wanted, crashes) in enumerate(moves):
            works = [asked.command(f"{number}-{i}") for i, asked in enumerate(wanted)]
            results = play(db, works, random.randrange, crashes=crashes)
            # Writers that crashed send the same request again here, and below all writers repeat theirs.
            reported = [
                again(db, asked, f"{number}-{i}") if result == CRASHED else result
                for i, (asked, result) in enumerate(zip(wanted, results, strict=True))
            ]
            learn(model, reported)
            assert_stored(db, model)
            for i, (asked, first) in enumerate(zip(wanted, reported, strict=True)):
                if isinstance(first, CommandOutcome):
                    assert again(db, asked, f"{number}-{i}") == CommandOutcome(first.response, replayed=True)
            assert_stored(db, model)
        for instant in instants(model, clock):
            for code in (*ALPHA2, *ALPHA3, *NUMERIC):
                assert version_of(db, code, instant) == expected(model, code, instant), (code, instant)


def again(db: Session, asked: Write, key: str) -> CommandOutcome[StoredResponse] | ConditionFailed:
    try:
        return db.run(asked.command(key))
    except ConditionFailed as refused:
        return refused


def learn(model: Model, reported: list[CommandOutcome[StoredResponse] | ConditionFailed]) -> None:
    """Add the versions in the responses to the model; a version that is known already must be the same."""
    bodies = [CountryVersion.model_validate_json(o.response.body) for o in reported if isinstance(o, CommandOutcome)]
    for body in sorted(bodies, key=lambda body: (body.alpha2_code, body.version_number)):
        content = (body.alpha3_code, body.numeric_code, body.name)
        said = Said(body.create_date, content, body.is_deleted)
        known = model[body.alpha2_code]
        if body.version_number == len(known) + 1:
            known.append(said)
        assert known[body.version_number - 1] == said


def assert_stored(db: Session, model: Model) -> None:
    """Check that the stored versions equal the responses and tile time, and that indexes and claims agree with them."""
    current: dict[str, Country] = {}
    for alpha2, reported in model.items():
        stored = db.run(HISTORY.versions(alpha2).consistent()).items[::-1]
        assert [Said(v.created, (v.alpha3, v.numeric, v.name), v.deleted) for v in stored] == reported
        assert [v.created for v in stored] == sorted({v.created for v in stored})
        assert [v.expires for v in stored] == [*(v.created for v in stored[1:]), *[None][: len(stored)]]
        if stored and not stored[-1].deleted:
            current[alpha2] = stored[-1]
    assert sorted(country.alpha2 for country in db.run(active_countries())) == sorted(current)
    for field, codes in (("alpha3", ALPHA3), ("numeric", NUMERIC)):
        for code in codes:
            owners = [alpha2 for alpha2, country in current.items() if getattr(country, field) == code]
            claim = db.run(claim_on_code(field, code).consistent())
            assert ([claim.owner] if claim and claim.owner else []) == owners


def instants(model: Model, clock: FakeClock) -> Iterator[datetime]:
    created = {said.created for reported in model.values() for said in reported}
    yield datetime.fromtimestamp(clock(), UTC)
    for instant in sorted(created):
        yield from (instant - TICK, instant, instant + TICK)


def expected(model: Model, code: str, instant: datetime) -> tuple[str, Said] | None:
    """Return by brute force which country has a code at an instant, or which had it last; None if none ever had it."""
    past = [
        (said.created, alpha2, said)
        for alpha2, reported in model.items()
        for said in reported
        if said.created <= instant and (alpha2 == code or said.has(code))
    ]
    holding = [
        (alpha2, known_by_then[-1])
        for alpha2, reported in model.items()
        if (known_by_then := [said for said in reported if said.created <= instant])
        and not known_by_then[-1].deleted
        and (alpha2 == code or known_by_then[-1].has(code))
    ]
    assert len(holding) <= 1, "two countries have one code at one instant"
    if holding:
        return "current", holding[0][1]
    return ("gone", max(past, key=lambda entry: entry[0])[2]) if past else None


def version_of(db: Session, code: str, instant: datetime) -> tuple[str, Said] | None:
    try:
        kind, version = "current", db.run(handlers.show_country(code, instant))
    except CountryGone as gone:
        kind, version = "gone", gone.current
    except ItemMissing:
        return None
    return kind, Said(version.created, (version.alpha3, version.numeric, version.name), version.deleted)
