"""Concurrent real clients: threads, processes of which one is killed, and clients of a wire server that is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from tests.histories._anomalies import find_anomalies
from tests.histories._history import History, Recorder, Status, history_of
from tests.histories._workload import TABLE, ListClient
from tests.wire.test_process import command

from partita import EmbeddedStore, Session
from partita.errors import StoreUnavailable
from partita.runtime import RetryPolicy
from partita.store import Store
from partita.store.remote import RemoteStore

ROOT = Path(__file__).parent.parent.parent
THREADS = 4
ONCE = RetryPolicy(tries=1)


def acting(store: Store, recorder: Recorder, next_number: Callable[[], int], acts: int) -> None:
    """Execute operations in several threads; each thread ends when the store is unavailable."""

    def act(name: str) -> None:
        client = ListClient(Session(store, retry=ONCE), recorder, name, Random(name), next_number)
        with suppress(StoreUnavailable):
            for _ in range(acts):
                client.act()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(act, [f"thread-{number}" for number in range(THREADS)]))


def read_all(store: Store, recorder: Recorder) -> None:
    """Read all lists at the end, and record this in the history."""
    ListClient(Session(store), recorder, "truth", Random(0), lambda: 0).read_all()


def check(history: History) -> None:
    """Check that some writes and reads succeeded, and that the history has no anomalies."""
    assert any(each.appends and each.status is Status.OK for each in history)
    assert any(any(each.reads.values()) for each in history)
    assert [str(finding) for finding in find_anomalies(history)] == []


def test_threads_on_one_store_have_one_order(tmp_path: Path) -> None:
    recorder, numbers = Recorder(), count(1)
    with EmbeddedStore(tmp_path / "lists.db") as store:
        Session(store).create_tables([TABLE])
        acting(store, recorder, lambda: next(numbers), 40)
        read_all(store, recorder)
    assert len(recorder.history) > THREADS * 40
    check(recorder.history)


@pytest.mark.slow
def test_processes_on_one_file_have_one_order_although_one_is_killed(tmp_path: Path) -> None:
    path, lines = tmp_path / "lists.db", tmp_path / "history"
    with EmbeddedStore(path) as store:
        Session(store).create_tables([TABLE])
        arguments = [sys.executable, "-m", "tests.histories.client", str(path), str(lines)]
        victim = subprocess.Popen([*arguments, "0", "1000000"], cwd=ROOT)
        others = [subprocess.Popen([*arguments, str(number), "40"], cwd=ROOT) for number in (1, 2)]
        try:
            while not lines.exists() or lines.read_bytes().count(b'"process":"process-0"') < 20:
                with suppress(subprocess.TimeoutExpired):
                    pytest.fail(f"It ended with {victim.wait(timeout=0.02)}.")
            victim.kill()
            assert [other.wait() for other in others] == [0, 0]
        finally:
            for process in (victim, *others):
                process.kill()
                process.wait()
        recorder = Recorder(lambda: sys.maxsize)
        read_all(store, recorder)
    history = [*history_of(lines.read_bytes()), *recorder.history]
    check([replace(each, number=number) for number, each in enumerate(history)])
    assert {each.process for each in history} == {"process-0", "process-1", "process-2", "truth"}


@pytest.mark.slow
def test_clients_of_a_wire_server_that_is_killed_have_one_order(tmp_path: Path) -> None:
    recorder, numbers = Recorder(), count(1)
    with command(tmp_path) as (process, (host, port)), RemoteStore(f"http://{host}:{port}") as store:
        Session(store).create_tables([TABLE])

        def next_number() -> int:
            number = next(numbers)
            if number == 60:
                process.kill()
            return number

        acting(store, recorder, next_number, 1_000_000)
    before = len(recorder.history)
    with command(tmp_path) as (_, (host, port)), RemoteStore(f"http://{host}:{port}") as store:
        acting(store, recorder, lambda: next(numbers), 20)
        read_all(store, recorder)
    check(recorder.history)
    assert any(each.status is Status.UNKNOWN for each in recorder.history[:before])
