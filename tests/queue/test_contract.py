"""The contract of every queue, embedded or SQS."""

from __future__ import annotations

import asyncio

import pytest

from partita.errors import PartitaError
from partita.queue import (
    Acknowledge,
    Create,
    Discard,
    GetStats,
    Message,
    Postpone,
    Queue,
    QueueStats,
    ReadDead,
    Receive,
    Redrive,
    Send,
)

pytestmark = pytest.mark.req("E02")


def send(queue: Queue, *bodies: str, group: str = "g") -> list[int]:
    return [queue.execute(Send(body, group, f"{group}-{body}")).sequence for body in bodies]


def bodies(messages: tuple[Message, ...]) -> list[str]:
    return [message.body for message in messages]


def receipts(messages: tuple[Message, ...]) -> tuple[str, ...]:
    return tuple(message.receipt for message in messages)


def counts(queue: Queue) -> tuple[int, int, int]:
    stats: QueueStats = queue.execute(GetStats())
    return stats.waiting, stats.in_flight, stats.dead


def test_messages_come_in_the_order_in_which_they_were_accepted(queue: Queue) -> None:
    sequences = send(queue, "a", "b", "c")
    messages = queue.execute(Receive())
    assert [(each.body, each.sequence, each.receives) for each in messages] == [
        (body, sequence, 1) for body, sequence in zip("abc", sequences, strict=True)
    ]
    assert sequences == sorted(set(sequences))


def test_a_position_sorts_as_text_as_the_queue_does(queue: Queue) -> None:
    accepted = [queue.execute(Send(str(n), "g", str(n))) for n in range(12)]
    assert sorted(accepted, key=lambda each: each.position) == accepted
    assert [each.position for each in queue.execute(Receive())] == [each.position for each in accepted[:10]]


def test_a_message_carries_what_was_sent(queue: Queue) -> None:
    accepted = queue.execute(Send('{"name": "Zoë", "n": 1}', "room-1", "one".ljust(100, ".")))
    [message] = queue.execute(Receive())
    assert (message.id, message.body, message.group) == (accepted.id, '{"name": "Zoë", "n": 1}', "room-1")
    assert abs(message.sent_at - accepted.at) < 60


def test_the_same_deduplication_id_is_sent_once_with_the_same_response(queue: Queue) -> None:
    first = queue.execute(Send("a", "g", "id"))
    again = queue.execute(Send("a, again", "g", "id"))
    assert (again.id, again.sequence) == (first.id, first.sequence)
    assert bodies(queue.execute(Receive())) == ["a"]


def test_a_deduplication_id_is_remembered_when_its_message_is_done(queue: Queue) -> None:
    send(queue, "a")
    queue.execute(Acknowledge(receipts(queue.execute(Receive()))))
    send(queue, "a")
    assert queue.execute(Receive()) == ()


def test_a_deduplication_id_belongs_to_its_group(queue: Queue) -> None:
    queue.execute(Send("a", "g", "id"))
    queue.execute(Send("b", "h", "id"))
    assert sorted(bodies(queue.execute(Receive()))) == ["a", "b"]


def test_a_group_waits_while_some_of_it_are_in_flight(queue: Queue) -> None:
    send(queue, "a", "b", "c")
    received = queue.execute(Receive(limit=2))
    assert bodies(queue.execute(Receive())) == []
    queue.execute(Acknowledge(receipts(received[:1])))
    assert bodies(queue.execute(Receive())) == []
    queue.execute(Acknowledge(receipts(received[1:])))
    assert bodies(queue.execute(Receive())) == ["c"]


def test_other_groups_go_on_meanwhile(queue: Queue) -> None:
    send(queue, "a", "b")
    queue.execute(Receive(limit=1))
    send(queue, "x", group="h")
    assert bodies(queue.execute(Receive())) == ["x"]


def test_what_is_acknowledged_never_comes_again(queue: Queue) -> None:
    send(queue, "a", "b")
    assert queue.execute(Acknowledge(receipts(queue.execute(Receive())))) == ()
    assert queue.execute(Receive()) == ()
    assert counts(queue) == (0, 0, 0)


def test_what_is_not_acknowledged_in_time_comes_again_with_another_receipt(queue: Queue) -> None:
    send(queue, "a")
    [first] = queue.execute(Receive(visibility=0))
    [again] = queue.execute(Receive())
    assert (again.id, again.body, again.sequence, again.receives) == (first.id, "a", first.sequence, 2)
    assert again.receipt != first.receipt


def test_a_receipt_is_too_late_when_the_message_was_handed_out_again(queue: Queue) -> None:
    send(queue, "a")
    [first] = queue.execute(Receive(visibility=0))
    [again] = queue.execute(Receive())
    assert queue.execute(Acknowledge((first.receipt,))) == (first.receipt,)
    assert queue.execute(Acknowledge((again.receipt,))) == ()


def test_a_message_can_be_put_back_at_once(queue: Queue) -> None:
    send(queue, "a", "b")
    assert queue.execute(Postpone(receipts(queue.execute(Receive())), 0)) == ()
    assert bodies(queue.execute(Receive())) == ["a", "b"]


def test_a_postponed_message_holds_its_group_back(queue: Queue) -> None:
    send(queue, "a", "b")
    [first] = queue.execute(Receive(limit=1, visibility=1))
    queue.execute(Postpone((first.receipt,), 600))
    assert queue.execute(Receive()) == ()
    assert counts(queue) == (1, 1, 0)


def test_many_are_acknowledged_at_once(queue: Queue) -> None:
    for n in range(25):
        queue.execute(Send(str(n), f"g{n}", str(n)))
    received: list[Message] = []
    while messages := queue.execute(Receive(limit=10)):
        received += messages
    assert len(received) == 25
    assert queue.execute(Acknowledge(receipts(tuple(received)))) == ()
    assert counts(queue) == (0, 0, 0)


def dead(queue: Queue, *names: str) -> None:
    """Send messages, and receive them until they are dead letters."""
    for name in names:
        send(queue, name, group=f"group-{name}")
    for _ in range(3):
        queue.execute(Receive(visibility=0))
    assert queue.execute(Receive()) == ()


def test_a_message_that_is_handed_out_too_often_is_a_dead_letter(queue: Queue) -> None:
    dead(queue, "poison")
    [letter] = queue.execute(ReadDead())
    assert (letter.body, letter.group) == ("poison", "group-poison")
    assert counts(queue) == (0, 0, 1)


def test_a_dead_letter_lets_its_group_go_on(queue: Queue) -> None:
    send(queue, "poison", "good")
    for _ in range(2):
        queue.execute(Receive(limit=1, visibility=0))
    assert bodies(queue.execute(Receive())) == ["good"]


def test_reading_dead_letters_leaves_them(queue: Queue) -> None:
    dead(queue, "a", "b")
    assert [queue.execute(ReadDead()), counts(queue)] == [queue.execute(ReadDead()), (0, 0, 2)]
    assert len(queue.execute(ReadDead(limit=1))) == 1


def test_dead_letters_can_be_sent_again(queue: Queue) -> None:
    dead(queue, "a", "b")
    assert queue.execute(Redrive()) == 2
    assert sorted(bodies(queue.execute(Receive()))) == ["a", "b"]
    assert queue.execute(ReadDead()) == ()


def test_one_dead_letter_can_be_sent_again(queue: Queue) -> None:
    dead(queue, "a", "b")
    wanted = next(letter.id for letter in queue.execute(ReadDead()) if letter.body == "b")
    assert queue.execute(Redrive((wanted,))) == 1
    assert bodies(queue.execute(Receive())) == ["b"]
    assert [letter.body for letter in queue.execute(ReadDead())] == ["a"]


def test_dead_letters_can_be_thrown_away(queue: Queue) -> None:
    dead(queue, "a", "b")
    wanted = next(letter.id for letter in queue.execute(ReadDead()) if letter.body == "b")
    assert queue.execute(Discard((wanted,))) == 1
    assert queue.execute(Discard()) == 1
    assert counts(queue) == (0, 0, 0)


def test_creating_a_queue_again_changes_nothing(queue: Queue) -> None:
    send(queue, "a")
    queue.execute(Create())
    assert bodies(queue.execute(Receive())) == ["a"]


def test_a_message_without_a_body_is_refused(queue: Queue) -> None:
    with pytest.raises(PartitaError):
        queue.execute(Send("", "g", "id"))
    assert queue.execute(Receive()) == ()


async def test_tasks_send_and_receive_too(queue: Queue) -> None:
    accepted = await asyncio.gather(*(queue.execute_async(Send(str(n), "g", str(n))) for n in range(8)))
    messages = await queue.execute_async(Receive())
    assert [message.sequence for message in messages] == sorted(each.sequence for each in accepted)
    assert await queue.execute_async(Acknowledge(receipts(messages))) == ()


async def test_whoever_waits_is_given_what_is_sent_meanwhile(queue: Queue) -> None:
    waiting = asyncio.ensure_future(queue.execute_async(Receive(wait=20)))
    await asyncio.sleep(0)
    await queue.execute_async(Send("a", "g", "a"))
    assert bodies(await waiting) == ["a"]
