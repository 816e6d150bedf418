"""The embedded queue beyond the contract: a clock that tests set, one file, several processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from partita._sqlite import open_database
from partita.errors import StoreBusy, StoreClosed, StoreDamaged, StoreError, StoreNewer, ValidationFailed
from partita.queue import Acknowledge, GetStats, Postpone, QueuePolicy, QueueStats, ReadDead, Receive, Redrive, Send
from partita.queue.embedded import EmbeddedQueue, _queue
from partita.testing import FakeClock

pytestmark = pytest.mark.req("E02")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queue.db"


@pytest.fixture
def queue(path: Path, fake_clock: FakeClock) -> Iterator[EmbeddedQueue]:
    with EmbeddedQueue(path, "q", policy=QueuePolicy(max_receives=2), clock=fake_clock, durable=False) as queue:
        yield queue


def bodies(queue: EmbeddedQueue, request: Receive | None = None) -> list[str]:
    return [message.body for message in queue.execute(request or Receive())]


def test_a_message_comes_again_when_its_time_is_over(queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
    queue.execute(Send("a", "g", "1"))
    assert bodies(queue, Receive(visibility=30)) == ["a"]
    fake_clock.advance(29.9)
    assert bodies(queue) == []
    fake_clock.advance(0.1)
    assert bodies(queue) == ["a"]


def test_a_postponed_message_comes_when_it_is_due(queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
    queue.execute(Send("a", "g", "1"))
    [message] = queue.execute(Receive(visibility=1))
    queue.execute(Postpone((message.receipt,), 60))
    fake_clock.advance(59)
    assert bodies(queue) == []
    fake_clock.advance(1)
    assert bodies(queue) == ["a"]


def test_a_receipt_counts_as_long_as_nobody_else_has_the_message(queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
    queue.execute(Send("a", "g", "1"))
    [message] = queue.execute(Receive(visibility=1))
    fake_clock.advance(60)
    assert queue.execute(Acknowledge((message.receipt,))) == ()
    assert bodies(queue) == []


def test_a_deduplication_id_is_forgotten_after_five_minutes(queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
    first = [queue.execute(Send("a", f"g{n}", "id")).sequence for n in range(5)]
    fake_clock.advance(299.9)
    assert [queue.execute(Send("a", f"g{n}", "id")).sequence for n in range(5)] == first
    fake_clock.advance(0.2)
    assert [queue.execute(Send("a", f"g{n}", "id")).sequence for n in reversed(range(5))] == [6, 7, 8, 9, 10]


def test_no_two_messages_were_sent_at_the_same_time(queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
    first = queue.execute(Send("a", "g", "1")).at
    again = queue.execute(Send("b", "g", "2")).at
    fake_clock.advance(-3600)  # as real clocks sometimes do
    third = queue.execute(Send("c", "g", "3")).at
    assert (first, first < again < third < first + 0.001) == (fake_clock() + 3600, True)


def test_a_message_was_sent_when_it_was_accepted(queue: EmbeddedQueue) -> None:
    accepted = queue.execute(Send("a", "g", "1"))
    [message] = queue.execute(Receive())
    assert (message.sent_at, message.sequence, message.id) == (accepted.at, accepted.sequence, accepted.id)


def test_one_receiver_may_take_a_hundred_of_a_group_in_order(queue: EmbeddedQueue) -> None:
    for n in range(150):
        queue.execute(Send(str(n), "g", str(n)))
    assert bodies(queue, Receive(limit=100)) == [str(n) for n in range(100)]
    assert bodies(queue) == []


def test_the_group_that_waits_longest_is_first(queue: EmbeddedQueue) -> None:
    for body, group in (("a", "late"), ("b", "early"), ("c", "late")):
        queue.execute(Send(body, group, body))
    assert bodies(queue, Receive(limit=1)) == ["a"]
    assert bodies(queue, Receive(limit=1)) == ["b"]


def test_a_dead_letter_that_is_sent_again_is_handed_out_as_often_as_a_new_one(queue: EmbeddedQueue) -> None:
    queue.execute(Send("a", "g", "1"))
    for _ in range(2):
        for _ in range(2):
            assert bodies(queue, Receive(visibility=0)) == ["a"]
        assert bodies(queue) == []
        assert queue.execute(Redrive()) == 1
    assert bodies(queue) == ["a"]


def test_dead_letters_do_not_stand_before_messages_of_other_groups(queue: EmbeddedQueue) -> None:
    queue.execute(Send("poison", "g", "1"))
    for _ in range(2):
        assert bodies(queue, Receive(visibility=0)) == ["poison"]
    queue.execute(Send("good", "h", "2"))
    assert bodies(queue, Receive(limit=1)) == ["good"]


def test_the_stats_say_how_long_the_oldest_has_waited(queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
    assert queue.execute(GetStats()) == QueueStats(0, 0, 0, None)
    for body in "abc":
        queue.execute(Send(body, "g", body))
        fake_clock.advance(10)
    queue.execute(Receive(limit=1))
    assert queue.execute(GetStats()) == QueueStats(waiting=2, in_flight=1, dead=0, oldest_seconds=30.0)


def test_who_waits_in_vain_gets_nothing(path: Path, fake_clock: FakeClock) -> None:
    pauses: list[float] = []
    with EmbeddedQueue(path, "q", clock=fake_clock, durable=False, sleep=pauses.append) as queue:
        assert queue.execute(Receive(wait=1.0)) == ()
    assert sum(pauses) == pytest.approx(1.0)


def test_whoever_waits_writes_nothing(path: Path, fake_clock: FakeClock) -> None:
    with EmbeddedQueue(path, "q", clock=fake_clock, durable=False, sleep=lambda _: None) as queue:
        queue.execute(Receive(wait=1.0))
        assert queue._commit.commits == 0


def test_whoever_waits_gets_what_another_process_sends(path: Path, fake_clock: FakeClock) -> None:
    other = EmbeddedQueue(path, "q", clock=fake_clock, durable=False)

    def sleep(_: float) -> None:
        other.execute(Send("a", "g", "1"))

    with other, EmbeddedQueue(path, "q", clock=fake_clock, durable=False, sleep=sleep) as queue:
        assert bodies(queue, Receive(wait=60)) == ["a"]


class Sleepers:
    """Commit notices in simulated time, which is also the time of the queue; no process commits."""

    def __init__(self, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = clock
        self.waits: list[float] = []
        monkeypatch.setattr(_queue, "CommitNotice", lambda _: self)
        monkeypatch.setattr(_queue, "time", SimpleNamespace(monotonic=clock))

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.clock.advance(seconds)
        return False


def test_whoever_waits_sleeps(queue: EmbeddedQueue, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    sleepers = Sleepers(fake_clock, monkeypatch)
    assert queue.execute(Receive(wait=60)) == ()
    assert len(sleepers.waits) <= 60 / _queue.LOOK_SECONDS + 1


def test_whoever_waits_wakes_when_a_message_comes_back(
    queue: EmbeddedQueue, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.execute(Send("a", "g", "1"))
    assert bodies(queue, Receive(visibility=0.3)) == ["a"]
    sleepers = Sleepers(fake_clock, monkeypatch)
    assert bodies(queue, Receive(wait=60)) == ["a"]
    assert sum(sleepers.waits) == pytest.approx(0.3)


def test_whoever_sleeps_is_woken_by_a_message(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_queue, "LOOK_SECONDS", 3_600.0)
    with EmbeddedQueue(path, "q", durable=False) as queue, EmbeddedQueue(path, "q", durable=False) as other:
        sending = threading.Timer(0.02, other.execute, [Send("a", "g", "1")])
        sending.start()
        assert bodies(queue, Receive(wait=3_600)) == ["a"]
        sending.join()


def test_threads_share_commits_and_lose_nothing(queue: EmbeddedQueue) -> None:
    def send(thread: int) -> None:
        for n in range(50):
            queue.execute(Send(f"{thread}-{n}", "g", f"{thread}-{n}"))

    threads = [threading.Thread(target=send, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    messages = queue.execute(Receive(limit=1000))
    assert [message.sequence for message in messages] == list(range(1, 401))
    assert {message.body for message in messages} == {f"{thread}-{n}" for thread in range(8) for n in range(50)}


@pytest.mark.parametrize(
    "request_",
    [
        Send("a", "", "1"),
        Send("a", "g", ""),
        Send("a", "two words", "1"),
        Send("a", "Zürich", "1"),
        Send("a", "g", "1" * 129),
        Send("", "g", "1"),
        Send("a" * 262_145, "g", "1"),
        Receive(visibility=-1),
        Receive(visibility=43_201),
        Acknowledge(("nonsense",)),
    ],
    ids=repr,
)
def test_what_sqs_would_not_take_is_refused(request_: Send | Receive | Acknowledge, queue: EmbeddedQueue) -> None:
    queue.execute(Send("here", "g", "here"))
    with pytest.raises(ValidationFailed):
        queue.execute(request_)
    assert bodies(queue) == ["here"]


def test_messages_are_still_there_when_the_file_is_opened_again(path: Path, queue: EmbeddedQueue) -> None:
    queue.execute(Send("a", "g", "1"))
    queue.close()
    with EmbeddedQueue(path, "q") as again:
        assert bodies(again) == ["a"]
        assert again.execute(ReadDead()) == ()


def test_a_signal_handler_may_look_but_not_change_anything_in_the_middle_of_a_change(queue: EmbeddedQueue) -> None:
    seen: list[QueueStats] = []

    def handle(*_: object) -> None:
        queue._writer.connection.set_update_hook(None)
        with pytest.raises(StoreBusy):
            queue.execute(Send("b", "g", "2"))
        with pytest.raises(StoreBusy):
            queue.close()
        seen.append(queue.execute(GetStats()))

    queue._writer.connection.set_update_hook(handle)
    queue.execute(Send("a", "g", "1"))
    assert seen == [QueueStats(0, 0, 0, None)]
    assert bodies(queue) == ["a"]


def test_a_signal_handler_may_look_while_others_are_counted(path: Path, fake_clock: FakeClock) -> None:
    looks: list[QueueStats] = []

    def clock() -> float:  # called in the middle of a count
        if not looks:
            looks.append(QueueStats(0, 0, 0, None))
            looks.append(counted.execute(GetStats()))
        return fake_clock()

    with EmbeddedQueue(path, "q", clock=clock, durable=False) as counted:
        assert counted.execute(GetStats()) == QueueStats(0, 0, 0, None)
    assert looks == [QueueStats(0, 0, 0, None)] * 2


FORK = """
import asyncio, os, signal, sys
from partita.errors import StoreError
from partita.queue import GetStats, Receive, Send
from partita.queue.embedded import EmbeddedQueue, _queue

signal.alarm(60)  # nobody is left behind, whatever hangs
queue = EmbeddedQueue(sys.argv[1], "q", durable=False)
asyncio.run(queue.execute_async(Send("a", "g", "1")))  # there is a writer thread, but only in the parent
if os.fork() == 0:
    signal.alarm(60)
    for request in (GetStats(), Send("b", "g", "2"), Receive()):
        for call in (queue.execute, lambda each: asyncio.run(queue.execute_async(each))):
            try:
                call(request)
            except StoreError as error:
                print(error.message.replace(sys.argv[1], "PATH"), flush=True)
    queue.close()
    own = EmbeddedQueue(sys.argv[1], "q", durable=False)
    own.execute(Send("c", "g", "3"))
    own.close()
    sys.exit()
assert os.wait()[1] == 0
queue.execute(Send("d", "g", "4"))
print([message.body for message in queue.execute(Receive())])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_queue_that_was_opened_before_a_fork_is_the_parents(path: Path) -> None:
    command = [sys.executable, "-c", FORK, str(path)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout.splitlines()
    assert said == [*["The store PATH was opened before a fork."] * 6, "['a', 'c', 'd']"]


def test_a_closed_queue_says_so(queue: EmbeddedQueue) -> None:
    queue.close()
    queue.close()
    for request in (Receive(), GetStats(), Send("a", "g", "1")):
        with pytest.raises(StoreClosed):
            queue.execute(request)


def test_a_file_of_something_else_is_left_as_it_is(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="is not a queue"):
        EmbeddedQueue(path, "q")
    assert path.read_bytes() == before


def test_a_file_that_is_not_a_database_is_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"no database at all".ljust(4096))
    with pytest.raises(StoreDamaged):
        EmbeddedQueue(path, "q")
    assert path.read_bytes() == b"no database at all".ljust(4096)


def test_a_file_of_a_newer_version_is_refused(path: Path, queue: EmbeddedQueue) -> None:
    queue.close()
    connection = open_database(str(path))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(StoreNewer, match="format 99"):
        EmbeddedQueue(path, "q")


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        EmbeddedQueue(tmp_path / "nowhere" / "queue.db", "q")


SEND_UNTIL_KILLED = """
import sys
from partita.queue import Send
from partita.queue.embedded import EmbeddedQueue, _queue
queue = EmbeddedQueue(sys.argv[1], "q")
for number in range(1_000_000):
    print(queue.execute(Send(str(number), "g", sys.argv[2] + str(number))).sequence, flush=True)
"""


def test_what_was_accepted_survives_kill_9_of_several_senders(path: Path) -> None:
    senders = [
        subprocess.Popen([sys.executable, "-c", SEND_UNTIL_KILLED, str(path), name], stdout=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    accepted = []
    for sender in senders:
        assert sender.stdout is not None
        accepted += [int(sender.stdout.readline()) for _ in range(20)]
    for sender in senders:
        sender.send_signal(signal.SIGKILL)
        out, _ = sender.communicate()
        accepted += [int(line) for line in out.splitlines() if line]
    with EmbeddedQueue(path, "q") as queue:
        stored = [message.sequence for message in queue.execute(Receive(limit=1_000_000))]
    assert len(set(accepted)) == len(accepted)
    assert set(accepted) <= set(stored)
    assert len(stored) - len(accepted) <= len(senders)


def holding(folder: Path, text: str) -> list[str]:
    """Return the names of the files that contain a text."""
    return sorted(file.name for file in folder.iterdir() if text.encode() in file.read_bytes())


@pytest.mark.parametrize("size", [1, 20_000], ids=["in a row", "on pages of its own"])
def test_an_acknowledged_message_is_in_no_file_after_closing(size: int, queue: EmbeddedQueue, path: Path) -> None:
    queue.execute(Send("planted" * size, "g", "1"))
    queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
    assert holding(path.parent, "planted") == ["queue.db-wal"]
    queue.close()
    assert holding(path.parent, "planted") == []


def test_an_idle_receiver_cuts_the_log_once_in_a_minute(
    queue: EmbeddedQueue, path: Path, fake_clock: FakeClock
) -> None:
    def work(body: str) -> None:
        queue.execute(Send(body, "g", body[0]))
        queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
        queue.execute(Receive())

    work("planted")
    assert holding(path.parent, "planted") == []
    work("another")
    assert holding(path.parent, "another") == ["queue.db-wal"]
    fake_clock.advance(61)
    queue.execute(Receive())
    assert holding(path.parent, "another") == []


def test_an_idle_receiver_of_a_loop_cuts_the_log_too(queue: EmbeddedQueue, path: Path) -> None:
    queue.execute(Send("planted", "g", "1"))
    queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
    assert asyncio.run(queue.execute_async(Receive())) == ()
    assert holding(path.parent, "planted") == []


@pytest.mark.parametrize("ahead", [86_400, 365 * 86_400])
def test_a_message_received_while_the_clock_was_ahead_comes_again(
    ahead: int, queue: EmbeddedQueue, fake_clock: FakeClock
) -> None:
    for number in range(2):
        queue.execute(Send(f"body {number}", "g", f"{number}"))
    fake_clock.advance(ahead)
    assert bodies(queue, Receive(limit=1, visibility=30.0)) == ["body 0"]
    fake_clock.advance(-ahead)
    assert queue.execute(GetStats()).in_flight == 0
    assert bodies(queue, Receive(limit=2)) == ["body 0", "body 1"]


def test_a_message_may_be_hidden_for_as_long_as_is_allowed(queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
    queue.execute(Send("body", "g", "1"))
    queue.execute(Receive(visibility=12 * 3_600.0))
    assert (bodies(queue), queue.execute(GetStats()).in_flight) == ([], 1)
    fake_clock.advance(12 * 3_600)
    assert bodies(queue) == ["body"]


def test_a_sound_queue_passes(queue: EmbeddedQueue) -> None:
    for number in range(3):
        queue.execute(Send("body", f"g{number}", "1"))
    queue.execute(Receive(limit=2))
    queue.verify()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE groups SET first = first + 1",
        "UPDATE groups SET held_until = 5",
        "DELETE FROM groups",
        "DELETE FROM messages",
    ],
)
def test_a_group_that_disagrees_with_its_messages_is_damage(statement: str, queue: EmbeddedQueue, path: Path) -> None:
    queue.execute(Send("body", "g", "1"))
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()
    with pytest.raises(StoreDamaged, match="group g disagrees") as found:
        queue.verify()
    assert "move the file away" in found.value.hint


def test_a_message_of_which_a_byte_has_changed_is_damage(path: Path, fake_clock: FakeClock) -> None:
    with EmbeddedQueue(path, "q", clock=fake_clock) as queue:
        queue.execute(Send("swordfish", "g", "1"))
    path.write_bytes(path.read_bytes().replace(b"swordfish", b"swordfisk"))
    with (
        EmbeddedQueue(path, "q", clock=fake_clock) as queue,
        pytest.raises(StoreDamaged, match="the checksum of a page does not match"),
    ):
        queue.execute(Receive())


def test_the_advice_for_a_damaged_queue_is_not_to_restore_a_backup(path: Path, fake_clock: FakeClock) -> None:
    with EmbeddedQueue(path, "q", clock=fake_clock) as queue:
        for number in range(200):
            queue.execute(Send("body" * 100, "g", f"{number}"))
    whole = path.read_bytes()
    path.write_bytes(b"junk" * 1_000)
    with pytest.raises(StoreDamaged, match="move the file away"):
        EmbeddedQueue(path, "q")
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreDamaged, match="move the file away"), EmbeddedQueue(path, "q") as queue:
        queue.execute(Receive())
