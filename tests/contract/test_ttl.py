"""Time to live."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import Clock, MakeTable, Table

from partita.errors import ValidationFailed
from partita.store._requests import SetTimeToLive
from partita.store._schema import IndexSchema, KeyAttribute

Sweep = Callable[[], int]
YEAR = 365 * 24 * 3600


@pytest.fixture
def expiring(make_table: MakeTable) -> Table:
    return make_table(ttl="expires", stream="NEW_AND_OLD_IMAGES")


def left(table: Table) -> list[str]:
    """Return the range keys that are still stored."""
    return [item["sk"] for item in table.query("p").items]


@pytest.mark.rule(43)
def test_an_expired_item_is_deleted_by_the_sweep(expiring: Table, clock: Clock, sweep: Sweep) -> None:
    now = int(clock())
    expiring.put({"pk": "p", "sk": "1", "expires": now + 60}, {"pk": "p", "sk": "2", "expires": now + 600})
    clock.advance(61)
    assert left(expiring) == ["1", "2"]
    assert sweep() == 1
    assert left(expiring) == ["2"]


@pytest.mark.rule(43)
@pytest.mark.parametrize(
    "expires",
    [None, "1", True, [1], "missing"],
    ids=["null", "text", "boolean", "list", "left out"],
)
def test_only_numbers_expire(expiring: Table, clock: Clock, sweep: Sweep, expires: Any) -> None:
    item = {"pk": "p", "sk": "1"} if expires == "missing" else {"pk": "p", "sk": "1", "expires": expires}
    expiring.put(item)
    clock.advance(YEAR)
    assert sweep() == 0
    assert left(expiring) == ["1"]


@pytest.mark.rule(43)
def test_what_expired_more_than_five_years_ago_stays(expiring: Table, clock: Clock, sweep: Sweep) -> None:
    now = int(clock())
    expiring.put({"pk": "p", "sk": "ancient", "expires": now - 5 * YEAR - 2 * 24 * 3600})
    expiring.put({"pk": "p", "sk": "recent", "expires": now - 4 * YEAR})
    expiring.put({"pk": "p", "sk": "zero", "expires": 0})
    assert sweep() == 1
    assert left(expiring) == ["ancient", "zero"]


def test_a_fraction_of_a_second_expires_too(expiring: Table, clock: Clock, sweep: Sweep) -> None:
    expiring.put({"pk": "p", "sk": "1", "expires": Decimal(int(clock())) + Decimal("0.5")})
    clock.advance(2)
    assert sweep() == 1


@pytest.mark.rule(43)
def test_milliseconds_are_a_time_far_away(expiring: Table, clock: Clock, sweep: Sweep) -> None:
    expiring.put({"pk": "p", "sk": "1", "expires": int(clock() * 1000)})
    clock.advance(YEAR)
    assert sweep() == 0


@pytest.mark.rule(43)
def test_the_record_says_that_the_service_deleted_it(expiring: Table, clock: Clock, sweep: Sweep) -> None:
    item = {"pk": "p", "sk": "1", "expires": int(clock()) + 1}
    expiring.put(item)
    clock.advance(2)
    sweep()
    record = expiring.records()[-1]
    assert (record.event, record.by_ttl, record.old, record.new) == ("REMOVE", True, item, None)


def test_a_users_delete_says_so(expiring: Table, clock: Clock) -> None:
    expiring.put({"pk": "p", "sk": "1", "expires": int(clock()) + 1})
    expiring.delete("p", "1")
    assert expiring.records()[-1].by_ttl is False


def test_a_longer_life_saves_the_item(expiring: Table, clock: Clock, sweep: Sweep) -> None:
    now = int(clock())
    expiring.put({"pk": "p", "sk": "1", "expires": now + 1}, {"pk": "p", "sk": "1", "expires": now + 1000})
    clock.advance(2)
    assert sweep() == 0
    assert left(expiring) == ["1"]


def test_the_sweep_keeps_the_indexes(make_table: MakeTable, clock: Clock, sweep: Sweep) -> None:
    table = make_table(ttl="expires", indexes=(IndexSchema("by-city", (KeyAttribute("city"),)),))
    table.put({"pk": "p", "sk": "1", "city": "C", "expires": int(clock()) + 1}, {"pk": "p", "sk": "2", "city": "C"})
    clock.advance(2)
    sweep()
    assert [item["sk"] for item in table.query("C", index="by-city").items] == ["2"]


def test_nothing_expires_without_a_ttl_attribute(table: Table, clock: Clock, sweep: Sweep) -> None:
    table.put({"pk": "p", "sk": "1", "expires": int(clock()) + 1})
    clock.advance(YEAR)
    assert sweep() == 0


def test_ttl_switched_on_later_takes_what_is_stored(table: Table, clock: Clock, sweep: Sweep) -> None:
    table.put({"pk": "p", "sk": "1", "expires": int(clock()) + 1})
    table.store.execute(SetTimeToLive(table.name, "expires"))
    clock.advance(2)
    assert sweep() == 1


def test_ttl_switched_off_deletes_nothing(expiring: Table, clock: Clock, sweep: Sweep) -> None:
    expiring.put({"pk": "p", "sk": "1", "expires": int(clock()) + 1})
    expiring.store.execute(SetTimeToLive(expiring.name, None))
    clock.advance(2)
    assert sweep() == 0
    assert left(expiring) == ["1"]


def test_the_ttl_attribute_is_described(make_table: MakeTable) -> None:
    table = make_table(ttl="expires")
    assert table.describe().schema.ttl == "expires"
    assert table.store.execute(SetTimeToLive(table.name, None)).schema.ttl is None
    assert table.describe().schema.ttl is None


def test_switching_ttl_on_twice_is_refused(make_table: MakeTable) -> None:
    table = make_table(ttl="expires")
    with pytest.raises(ValidationFailed, match="TimeToLive is already enabled"):
        table.store.execute(SetTimeToLive(table.name, "expires"))


def test_switching_ttl_off_twice_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="TimeToLive is already disabled"):
        table.store.execute(SetTimeToLive(table.name, None))


@pytest.mark.rule(6)
@pytest.mark.parametrize("name", ["", "n" * 256], ids=["empty", "too long"])
def test_the_ttl_attribute_has_1_to_255_bytes(table: Table, name: str) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(SetTimeToLive(table.name, name))
