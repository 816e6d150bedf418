"""Countries: editors write versions with idempotency keys, and conflict. The past that was once read never changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from random import Random
from typing import Any, Final

from tests.simulation._kernel import Process
from tests.simulation._played import Played
from tests.simulation._retrying import GaveUp, ask_again
from tests.simulation._world import World, all_items, expect

from partita import Procedure, Session, Table
from partita.errors import ConditionFailed
from partita.queue import QueuePolicy
from partita.recipes.idempotency import Command, Plan, StoredResponse, fingerprint
from partita.values import Item
from partita_services.countries.handlers import CountryData, Edit, delete_country, restore_country, write_country
from partita_services.countries.model import HISTORY, REQUESTS, TABLE, Country

CODES: Final = ("AA", "BB", "CC")
ALPHA3: Final = ("AAA", "BBB", "CCC", "DDD")
NUMERIC: Final = ("001", "002", "003", "004")
NAMES: Final = ("Atlantis", "Borealis", "Cascadia")
EDITORS: Final = 3
ASKED_AGAIN: Final = 3
INDEXES: Final = {
    "GSI-Alpha3": ("alpha3Code", "createDate"),
    "GSI-Numeric": ("numericCode", "createDate"),
    "GSI-Active": ("activeList", "activeName"),
    "GSI-Withdrawn": ("withdrawnList", "withdrawnName"),
    "GSI-Changes": ("changeList", "changeDate"),
}


class Countries:
    """The scenario `countries`, with the responses that editors got, and results of queries for past instants."""

    tables: Sequence[Table] = (TABLE,)
    queues: Mapping[str, QueuePolicy] = {}
    spared: Container[str] = ()

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        """The version that each command wrote, by the key of the command."""
        self._seen: dict[tuple[str, str], Item] = {}
        """All versions at the previous check."""
        self._said: dict[tuple[str, datetime], Country] = {}
        """The first result of each query for a past instant."""
        self._played = Played(TABLE)

    def start(self, world: World) -> None:
        """Start the editors, with no countries."""
        for number in range(EDITORS):
            world.client(f"editor-{number}", lambda process: self._edit(world, process))

    def _edit(self, world: World, process: Process) -> None:
        session, count = world.session(process), 0
        random = Random(f"{process.name} {world.random.random()}")
        while not world.is_calm:
            count += 1
            with suppress(GaveUp, ConditionFailed):
                self._write(world, session, random, f"{process.name}-{count}")
            world.kernel.sleep(random.uniform(0.0, 0.8))

    def _write(self, world: World, session: Session, random: Random, key: str) -> None:
        code, kind = random.choice(CODES), random.choice(("write", "write", "write", "delete", "restore"))
        data = CountryData(name=random.choice(NAMES), alpha3=random.choice(ALPHA3), numeric=random.choice(NUMERIC))
        command, edit = Command("op", key, fingerprint(key)), Edit("op", key)

        def plan() -> Procedure[Plan[Country]]:
            if kind == "write":
                return write_country(code, data, edit=edit)
            return delete_country(code, edit=edit) if kind == "delete" else restore_country(code, None, edit=edit)

        def ask() -> str:
            return session.run(REQUESTS.run(command, plan(), _response)).response.body

        for _ in range(random.choice((1, 1, 2))):
            body: str = ask_again(world, ask)
            before = self.told.setdefault(key, body)
            expect(before == body, "the command {} returned {}, and then {}", key, before, body)

    def check(self, world: World) -> None:
        """Check versions (no gap, no rewrite), the owners of codes, and that indexes and stream match the table."""
        items = world.items(TABLE)
        versions = sorted(
            (each for each in items if "versionNumber" in each),
            key=lambda each: (each["alpha2Code"], each["createDate"]),
        )
        self._check_unchanged(versions)
        for code in CODES:
            self._check_history([each for each in versions if each["alpha2Code"] == code])
        self._check_codes(items, versions)
        reasons = Counter(each["reason"] for each in versions)
        expect(max(reasons.values(), default=0) <= 1, "a command wrote two versions: {}", reasons.most_common(1))
        for index, names in INDEXES.items():
            listed = sorted(_key(each) for each in all_items(world.server.front, TABLE.name, index))
            expected = sorted(_key(each) for each in items if all(name in each for name in names))
            expect(listed == expected, "the index {} has {}, and should have {}", index, listed, expected)
        self._played.check(world, items)
        self._ask_again(world, versions)

    def _check_unchanged(self, versions: Sequence[Item]) -> None:
        """Check that a version never changes, except that it gets its end once, and moves between lists."""
        found = {_key(each): each for each in versions}
        for key, before in self._seen.items():
            now = found.get(key, {})
            ended = "expiryDate" in before
            expect(_content(now, ended=ended) == _content(before, ended=ended), "{} was rewritten as {}", before, now)
        self._seen |= found

    def _check_history(self, versions: Sequence[Item]) -> None:
        expect([each["versionNumber"] for each in versions] == list(range(1, len(versions) + 1)), "a number is missing")
        for each, following in pairwise(versions):
            expect(each.get("expiryDate") == following["createDate"], "{} does not end when {} begins", each, following)
            expect("activeList" not in each and "withdrawnList" not in each, "{} has ended, and is listed", each)
        for each in versions[-1:]:
            expect("expiryDate" not in each, "the last version has an end: {}", each)
            lists = "withdrawnList" in each, "activeList" in each
            expect(lists == (each["isDeleted"], not each["isDeleted"]), "{} is in the wrong list", each)

    def _check_codes(self, items: Sequence[Item], versions: Sequence[Item]) -> None:
        """Check that each code of a current country is claimed by this country, and by no other."""
        current = [each for each in versions if "activeList" in each]
        held = {each["alpha2Code"]: each.get("owner") for each in items if each["alpha2Code"].startswith("UNIQUE#")}
        for field, attribute in (("alpha3", "alpha3Code"), ("numeric", "numericCode")):
            owners = {f"UNIQUE#{field}#{each[attribute]}": each["alpha2Code"] for each in current}
            expect(len(owners) == len(current), "two countries have the same {}: {}", field, current)
            claims = {key: owner for key, owner in held.items() if owner and key.startswith(f"UNIQUE#{field}#")}
            expect(claims == owners, "the claims are {}, and should be {}", claims, owners)

    def _ask_again(self, world: World, versions: Sequence[Item]) -> None:
        """Check that queries for instants before the newest version always have the same results."""
        for each in versions:
            if "expiryDate" in each:
                at = datetime.fromisoformat(each["createDate"])
                if (each["alpha2Code"], at) not in self._said:
                    found = world.truth.run(HISTORY.as_of(at, each["alpha2Code"]))
                    expect(
                        found is not None and found.number == each["versionNumber"], "{} is not found at {}", each, at
                    )
                    self._said[each["alpha2Code"], at] = found  # type: ignore[assignment]
        known = sorted(self._said)
        for code, at in known[world.kernel.steps % 7 :: max(len(known) // ASKED_AGAIN, 1)]:
            now = world.truth.run(HISTORY.as_of(at, code))
            expect(
                now == self._said[code, at],
                "the country {} at {} was {}, and is now {}",
                code,
                at,
                self._said[code, at],
                now,
            )

    def is_settled(self, world: World) -> bool:
        """Whether all editors have ended."""
        return world.clients_are_done()

    def check_end(self, world: World) -> None:
        """Check that every version that was acknowledged to an editor is in the history."""
        written = {
            f"{each['alpha2Code']} {each['versionNumber']}" for each in world.items(TABLE) if "versionNumber" in each
        }
        for key, body in self.told.items():
            expect(body in written, "the command {} returned {}, which is missing", key, body)


def _key(item: Item) -> tuple[str, str]:
    return item["alpha2Code"], item["createDate"]


def _content(item: Item, *, ended: bool) -> dict[str, Any]:
    moves = {"activeList", "activeName", "withdrawnList", "withdrawnName", "listed", "retired"}
    left_out = moves if ended else {*moves, "expiryDate"}
    return {name: value for name, value in item.items() if name not in left_out}


def _response(version: Country) -> StoredResponse:
    return StoredResponse(body=f"{version.alpha2} {version.number}")
