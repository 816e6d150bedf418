"""A chat: rooms with their last messages, the rooms of a user, and the number of unread messages.

    pip install partita
    python chat.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `room_page(room_id)` | a room and its last 50 messages, in one query; older messages page by page | 7 RCU |
| `messages_since(room_id, number)` | the messages from a number on | 13 RCU |
| `members_of(room_id)` | the members of a room | 13 RCU |
| `rooms_of(user)` | the rooms of a user, through an inverted index | 13 RCU |
| `member(room_id, user)` | one member of a room | 0.5 RCU |
| `enter(member)` | add a user to a room | 4 WCU |
| `next_number(room)` | count a message | 2 WCU |
| `say(message)` | write a message | 4 WCU |
| `count_unread(room_id, user)`, `read_all(room_id, user)` | count a member's unread messages, in one request | 4 WCU |

Each room counts its messages and numbers them, so that they sort in the order in which they were written. The item of a
room sorts after its messages, so one query in descending order returns the room and its last messages. A membership can
be queried by room and, through an index that swaps the two key attributes, by user.

It prints:

    general, the last two: 4 ben: see you, 3 ada: bye
    before that: 2 ben: hi, 1 ada: hello
    since 3: bye, see you
    in general: ada, ben
    ben is in: general, random
    ben has 2 unread, then 0
    room_page: Query on the table
      predicted: 6.5 RCU (with items of 1,024 bytes)
      budget:    7 RCU
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Put,
    Rcu,
    Session,
    Span,
    Table,
    Update,
    Upsert,
    Wcu,
    collect,
    explain,
    f,
    get,
    insert,
    pattern,
    put,
    query,
    update,
    upsert,
)

TABLE = Table("chat", indexes=[Index("inverted", hash="SK", range="PK")])


class Room(Entity, table=TABLE):
    """A room, with the number of its messages."""

    primary: ClassVar = Key("ROOM#{room_id}", "ROOM")

    room_id: str
    messages: int = 0


class Message(Entity, table=TABLE):
    """A message in a room."""

    primary: ClassVar = Key("ROOM#{room_id}", "MESSAGE#{number:010}")

    room_id: str
    number: int
    author: str
    text: str


class Member(Entity, table=TABLE):
    """The membership of a user in a room, with the number of unread messages."""

    primary: ClassVar = Key("ROOM#{room_id}", "USER#{user}")
    by_user: ClassVar = Key("USER#{user}", "ROOM#{room_id}", index="inverted")

    room_id: str
    user: str
    unread: int = 0


@dataclass(frozen=True)
class RoomPage:
    """A room and a page of its messages."""

    room: Room
    messages: tuple[Message, ...]


@collect(RoomPage, "ROOM#{room_id}", newest_first=True, limits={Message: 50}, budget=Rcu(7))
def room_page(room_id: str) -> None:
    """A room and its last messages."""


@query(Message, Message.primary, budget=Rcu(13))
def messages_since(room_id: str, number: Span[int]) -> None:
    """The messages of a room within a range of numbers."""


@query(Member, Member.primary, budget=Rcu(13))
def members_of(room_id: str) -> None:
    """The members of a room."""


@query(Member, Member.by_user, budget=Rcu(13))
def rooms_of(user: str) -> None:
    """The memberships of a user, one for each room."""


@get(Member, budget=Rcu(0.5))
def member(room_id: str, user: str) -> None:
    """One member of a room."""


@pattern(budget=Wcu(4))
def enter(new: Member) -> Put[Member]:
    """Add a user to a room."""
    return put(new)


@pattern(budget=Wcu(2))
def next_number(room: Room) -> Update[Room]:
    """Count a new message; the returned room has its number."""
    return update(room, f(Room.messages).add(1))


@pattern(budget=Wcu(4))
def say(message: Message) -> Put[Message]:
    """Write a message, if its number is not taken."""
    return insert(message)


@pattern(budget=Wcu(4))
def count_unread(room_id: str, user: str) -> Upsert[Member]:
    """Count one more unread message for a member, who is added to the room if necessary."""
    return upsert(member(room_id, user), f(Member.unread).add(1))


@pattern(budget=Wcu(4))
def read_all(room_id: str, user: str) -> Update[Member]:
    """Mark all messages as read by a member."""
    return update(member(room_id, user), f(Member.unread).set(0))


EXPLAINED = room_page("general")


def tell(db: Session) -> None:
    """Have a short conversation, and print what the patterns return."""
    rooms = [db.run(insert(Room(room_id=name))) for name in ("general", "random")]
    for room_id, user in (("general", "ada"), ("general", "ben"), ("random", "ben")):
        db.run(enter(Member(room_id=room_id, user=user)))
    for author, text in (("ada", "hello"), ("ben", "hi"), ("ada", "bye"), ("ben", "see you")):
        room = db.run(next_number(rooms[0]))
        db.run(say(Message(room_id="general", number=room.messages, author=author, text=text)))
        db.run(count_unread("general", "ben" if author == "ada" else "ada"))

    first = db.run(room_page("general").page(2))
    older = db.run(room_page("general").page(2, after=first.next_cursor))
    for label, page in (("general, the last two:", first), ("before that:", older)):
        assert page.result is not None
        print(label, ", ".join(f"{each.number} {each.author}: {each.text}" for each in page.result.messages))
    print("since 3:", ", ".join(each.text for each in db.run(messages_since("general", Span.since(3)))))
    print("in general:", ", ".join(each.user for each in db.run(members_of("general"))))
    print("ben is in:", ", ".join(each.room_id for each in db.run(rooms_of("ben"))))
    unread = db.run(member("general", "ben"))
    assert unread is not None
    print(f"ben has {unread.unread} unread, then {db.run(read_all('general', 'ben')).unread}")
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def main() -> None:
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
