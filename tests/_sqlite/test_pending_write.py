"""A write that waits for its commit: what its caller learns, and when."""

from __future__ import annotations

import asyncio

import pytest

from partita._sqlite import PendingWrite
from partita._sqlite._pending_write import notify_all
from partita.errors import ConditionFailed, StoreUnavailable


def test_a_finished_write_has_its_response() -> None:
    write = PendingWrite("request")
    write.finish("response", None)
    write.notify()
    write.wait()
    assert write.result() == "response"


def test_a_refused_write_raises_its_error() -> None:
    write = PendingWrite("request")
    write.finish(None, ConditionFailed())
    with pytest.raises(ConditionFailed):
        write.result()


def test_a_write_that_was_interrupted_is_in_doubt() -> None:
    with pytest.raises(StoreUnavailable, match="interrupted"):
        PendingWrite("request").result()


def test_to_notify_twice_does_no_harm() -> None:
    write = PendingWrite("request")
    write.notify()
    write.notify()
    write.wait()


def test_a_write_is_cancelled_by_its_caller_or_with_its_task() -> None:
    async def cancel() -> list[bool]:
        by_caller, with_task = PendingWrite(1), PendingWrite(2, asyncio.get_running_loop().create_future())
        before = [by_caller.is_cancelled(), with_task.is_cancelled()]
        by_caller.cancel()
        assert with_task.future is not None
        with_task.future.cancel()
        return [*before, by_caller.is_cancelled(), with_task.is_cancelled()]

    assert asyncio.run(cancel()) == [False, False, True, True]


def test_tasks_get_results_errors_and_doubts_on_their_own_loop() -> None:
    async def write_three() -> list[object]:
        loop = asyncio.get_running_loop()
        writes = [PendingWrite(number, loop.create_future()) for number in range(3)]
        writes[0].finish("response", None)
        writes[1].finish(None, ConditionFailed())
        await asyncio.to_thread(notify_all, writes)
        futures = [write.future for write in writes if write.future is not None]
        return list(await asyncio.gather(*futures, return_exceptions=True))

    response, refusal, doubt = asyncio.run(write_three())
    assert (response, type(refusal), type(doubt)) == ("response", ConditionFailed, StoreUnavailable)


def test_a_loop_that_was_closed_is_passed_over() -> None:
    loop = asyncio.new_event_loop()
    of_closed_loop, other = PendingWrite(1, loop.create_future()), PendingWrite(2)
    loop.close()
    notify_all([of_closed_loop, other])
    other.wait()
