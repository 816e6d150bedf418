"""The writer thread: started when it is woken, and ended when it is not needed."""

from __future__ import annotations

import threading

import pytest

from partita._sqlite._writer_thread import WriterThread


class Work:
    """Counts its calls, and records their threads."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.is_done = threading.Semaphore(0)

    def __call__(self) -> None:
        self.threads.append(threading.current_thread().name)
        self.is_done.release()


def test_nothing_is_started_before_it_is_needed() -> None:
    thread = WriterThread(Work())
    thread.stop()
    assert thread._thread is None


def test_each_wake_has_the_work_done_once_more() -> None:
    work = Work()
    thread = WriterThread(work)
    for _ in range(3):
        thread.wake()
        work.is_done.acquire()
    thread.stop()
    assert work.threads == ["partita-writer"] * 3


def test_a_wake_that_comes_while_the_thread_is_about_to_end_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita._sqlite._writer_thread.IDLE_SECONDS", 0.0)
    work = Work()
    thread = WriterThread(work)
    for _ in range(200):
        thread.wake()
        work.is_done.acquire()
    thread.stop()
    assert len(work.threads) >= 200


def test_a_thread_that_failed_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    work = Work()

    def fail_once() -> None:
        work()
        if len(work.threads) == 1:
            raise SystemExit

    thread = WriterThread(fail_once)
    thread.wake()
    work.is_done.acquire()
    failed = thread._thread
    assert failed is not None
    failed.join()
    thread.wake()
    work.is_done.acquire()
    thread.stop()
    assert len(work.threads) == 2


def test_who_stops_it_waits_for_the_end_of_its_work() -> None:
    begun, may_end, order = threading.Event(), threading.Event(), list[str]()

    def work() -> None:
        begun.set()
        may_end.wait()
        order.append("work")

    thread = WriterThread(work)
    thread.wake()
    begun.wait()

    def stop() -> None:
        thread.stop()
        order.append("stopped")

    stopping = threading.Thread(target=stop)
    stopping.start()
    may_end.set()
    stopping.join()
    assert order == ["work", "stopped"]
