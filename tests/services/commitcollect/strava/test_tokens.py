"""Tokens: refreshed in time, by one worker at a time, never lost, and useless to whoever steals the tables."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace
from tests.recipes.interleaving import every_schedule
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.strava_model import ATHLETE, LIFETIME
from tests.services.commitcollect.world import TRACE, World, new_world, queued_world

from partita import f
from partita.errors import ConditionFailed
from partita.store import ScanTable
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.jobs.ingest import IngestOutcome, ingest
from partita_services.commitcollect.model import Connection, ConnectionState
from partita_services.commitcollect.signin.sessions import SESSIONS
from partita_services.commitcollect.strava.interface import ReadActivity, ReadAthlete, Refresh, StravaUnavailable
from partita_services.commitcollect.strava.model import RateLimit, save_limit
from partita_services.commitcollect.strava.tokens import ConnectionLost, call_as_user, refreshed
from partita_services.commitcollect.strava.vault import SealBroken, Vault
from partita_services.commitcollect.work import TryLater, do
from partita_services.commitcollect.writes import change_connection, drop_connection


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def read_athlete(world: World) -> Any:
    return call_as_user(world.app, world.connection, ReadAthlete)


@pytest.mark.req("C02")
def test_tokens_are_refreshed_five_minutes_before_they_expire(world: World) -> None:
    world.clock.advance(LIFETIME - 300)
    assert world.do(read_athlete(world)).id == ATHLETE
    assert world.strava.refreshes == {}
    world.clock.advance(1)
    assert world.do(read_athlete(world)).id == ATHLETE
    assert world.strava.refreshes == {"refresh-1": 1}
    assert world.connection.generation == 2
    assert world.do(read_athlete(world)).id == ATHLETE
    assert world.strava.refreshes == {"refresh-1": 1}


@pytest.mark.req("C02")
def test_a_worker_whose_clock_was_ahead_and_who_died_does_not_keep_others_from_refreshing(world: World) -> None:
    """A claim that would last a day is ignored; workers wait for a claim by a clock that is slightly ahead."""
    world.strava.expire()
    for ahead, is_waited_for in ((20, True), (86_400, False)):
        until = int((world.clock() + ahead + 30) * 1000)
        world.db.run(change_connection(world.connection, f(Connection.refreshing_until).set(until)))
        if is_waited_for:
            with pytest.raises(TryLater):
                world.do(read_athlete(world))
        else:
            assert world.do(read_athlete(world)).id == ATHLETE


@pytest.mark.req("C02")
def test_eight_workers_use_a_refresh_token_once() -> None:
    with queued_world() as world:
        world.log_in()
        world.clock.advance(LIFETIME)
        connection = world.connection
        start = threading.Barrier(8)
        athletes: list[int] = []

        def work() -> None:
            start.wait()
            while True:
                try:
                    found = do(call_as_user(world.app, connection, ReadAthlete), world.db, world.tools)
                except TryLater:
                    continue
                athletes.append(found.id)
                return

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert athletes == [ATHLETE] * 8
        assert world.strava.refreshes == {"refresh-1": 1}
        assert world.connection.generation == 2


@pytest.mark.req("C02")
def test_in_every_order_of_two_workers_a_token_is_used_once_and_the_newest_is_kept() -> None:
    for choose in every_schedule():
        with new_world() as world:
            world.log_in()
            world.clock.advance(LIFETIME)
            connection = world.connection
            players = [
                Player(call_as_user(world.app, connection, ReadAthlete), world.db, world.tools) for _ in range(2)
            ]
            while waiting := [player for player in players if not player.done]:
                waiting[choose(len(waiting)) if len(waiting) > 1 else 0].move()
            assert world.strava.refreshes == {"refresh-1": 1}
            kept = world.app.vault.open(world.connection.sealed, world.user_id)
            assert kept == world.strava.tokens[ATHLETE]
            assert all(isinstance(player.result, TryLater) or player.result.id == ATHLETE for player in players)


@pytest.mark.req("C02")
def test_tokens_that_come_late_are_kept_although_another_has_given_up(world: World) -> None:
    world.clock.advance(LIFETIME)
    slow = Player(read_athlete(world), world.db, world.tools)
    while not isinstance(slow.next, Refresh):
        slow.move()
    slow.move()  # Strava has returned new tokens, which are not stored yet
    world.clock.advance(31)
    with pytest.raises(ConnectionLost):
        world.do(read_athlete(world))
    assert world.connection.state is ConnectionState.RECONNECT
    assert slow.finish().id == ATHLETE
    assert (world.connection.state, world.connection.generation) == (ConnectionState.CONNECTED, 2)


@pytest.mark.req("C02")
def test_tokens_that_died_with_a_worker_ask_the_user_to_connect_again(world: World) -> None:
    world.clock.advance(LIFETIME)
    killed = Player(read_athlete(world), world.db, world.tools)
    while not isinstance(killed.next, Refresh):
        killed.move()
    killed.crash(after=True)
    with pytest.raises(TryLater):
        world.do(read_athlete(world))
    world.clock.advance(31)
    with pytest.raises(ConnectionLost):
        world.do(read_athlete(world))
    lost = world.connection
    world.log_in()
    assert (lost.state, world.connection.state) == (ConnectionState.RECONNECT, ConnectionState.CONNECTED)
    assert world.do(read_athlete(world)).id == ATHLETE


@pytest.mark.req("C02")
def test_a_worker_that_strava_did_not_respond_to_lets_the_next_one_try(world: World) -> None:
    world.clock.advance(LIFETIME)
    world.strava.failures = 1
    with pytest.raises(StravaUnavailable):
        world.do(read_athlete(world))
    assert world.do(read_athlete(world)).id == ATHLETE


@pytest.mark.req("C06")
def test_while_strava_wants_us_to_wait_nobody_reads_and_tokens_are_refreshed_all_the_same(world: World) -> None:
    open_at = datetime.fromtimestamp(world.clock() + 100, UTC)
    world.db.run(save_limit(RateLimit(client_id=world.app.settings.client_id, open_at=open_at)))
    world.strava.requests.clear()
    with pytest.raises(TryLater) as later:
        world.do(read_athlete(world))
    assert (later.value.seconds, world.strava.requests) == (open_at.timestamp() - world.clock(), [])
    assert world.do(refreshed(world.app, world.connection)).generation == 2
    world.clock.advance(later.value.seconds)
    assert world.do(read_athlete(world)).id == ATHLETE


@pytest.mark.req("C06")
def test_a_token_that_is_refused_is_refreshed_once(world: World) -> None:
    world.strava.train(1)
    world.strava.expire()
    assert world.do(ingest(world.app, world.user_id, "1", TRACE)) is IngestOutcome.STORED
    assert world.strava.refreshes == {"refresh-1": 1}


@pytest.mark.req("C06")
def test_refused_twice_the_connection_is_marked_for_reconnect(world: World) -> None:
    world.strava.refuses_reads = True
    assert world.do(ingest(world.app, world.user_id, "1", TRACE)) is IngestOutcome.NOT_CONNECTED
    assert world.connection.state is ConnectionState.RECONNECT
    assert [type(request) for request in world.strava.requests[1:]] == [ReadActivity, Refresh, ReadActivity]
    assert world.do(ingest(world.app, world.user_id, "1", TRACE)) is IngestOutcome.NOT_CONNECTED
    assert len(world.strava.requests) == 4


@pytest.mark.req("C02", "C20")
def test_what_is_stolen_from_the_tables_opens_nothing() -> None:
    with new_world() as world:
        session_id = world.log_in()
        tokens = world.strava.tokens[ATHLETE]
        everything = repr([world.db.store.execute(ScanTable(table.name)).items for table in SERVICE.tables])
        for secret in (session_id, tokens.access_token, tokens.refresh_token):
            assert secret not in everything
        sealed, other = world.connection.sealed, Vault(b"x" * 32)
        with pytest.raises(SealBroken):
            other.open(sealed, world.user_id)
        with pytest.raises(SealBroken):
            world.app.vault.open(sealed, "another user")
        (stored,) = world.db.run(SESSIONS.of_user(world.user_id))
        assert world.db.run(SESSIONS.resolve(stored.session_hash)) is None
        assert world.db.run(SESSIONS.resolve(session_id)) is not None


@pytest.mark.req("C02")
@pytest.mark.parametrize("length", [0, 5, 11, 12, 27])
def test_a_seal_that_is_cut_off_is_broken(world: World, length: int) -> None:
    with pytest.raises(SealBroken):
        world.app.vault.open(world.connection.sealed[:length], world.user_id)


@pytest.mark.req("C02", "C06")
@pytest.mark.parametrize("length", [0, 5])
def test_tokens_that_were_cut_off_ask_the_user_to_connect_again(world: World, length: int) -> None:
    connection = world.connection
    world.db.run(change_connection(connection, f(Connection.sealed).set(connection.sealed[:length])))
    assert world.do(ingest(world.app, world.user_id, "1", TRACE)) is IngestOutcome.NOT_CONNECTED
    assert world.connection.state is ConnectionState.RECONNECT


@pytest.mark.req("C02", "C06")
def test_tokens_of_a_key_that_was_lost_ask_the_user_to_connect_again(world: World) -> None:
    world.strava.train(1)
    app = replace(world.app, vault=Vault(b"x" * 32))
    assert world.do(ingest(app, world.user_id, "1", TRACE)) is IngestOutcome.NOT_CONNECTED
    assert world.connection.state is ConnectionState.RECONNECT
    assert len(world.strava.requests) == 1


@pytest.mark.req("C05")
def test_who_connects_again_while_an_earlier_connection_is_dropped_stays_connected(world: World) -> None:
    before = world.connection
    world.log_in()
    with pytest.raises(ConditionFailed):
        world.db.run(drop_connection(before))
    assert world.connection.link_id != before.link_id
