"""What CommitCollect writes: every write as an access pattern, with its condition and its budget.

The table's part of a transaction is charged twice; so a workout is 2 WCU, up to 2 more for the index where its start
moved, and its connection's check 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from partita import (
    Action,
    BatchWrite,
    Change,
    Check,
    Delete,
    Put,
    Transaction,
    Update,
    Wcu,
    all_of,
    any_of,
    batch_write,
    check,
    delete,
    f,
    insert,
    pattern,
    put,
    transact,
    update,
)
from partita.store import BatchWriteItem, ConditionCheck, DeleteItem, PutItem, UpdateItem
from partita_services.commitcollect.milestones.notices import Notice
from partita_services.commitcollect.model import (
    AthleteOwner,
    Award,
    Connection,
    Milestone,
    MilestoneLife,
    Profile,
    Progress,
    Request,
    Workout,
    connection_of,
    owner_of,
    profile_of,
)
from partita_services.commitcollect.signin.sessions import LoginSession
from partita_services.commitcollect.strava.model import Tickets, tickets_of

_PUT: Final = (PutItem,)
_CHECK: Final = (ConditionCheck,)
_ENTRY: Final = (PutItem, DeleteItem)
"""A session that begins, and the one that the browser had."""


@pattern(
    budget=Wcu(14), writes={AthleteOwner: _PUT, Profile: _PUT, Tickets: _PUT, Connection: _PUT, LoginSession: _ENTRY}
)
def join(profile: Profile, connection: Connection, entry: Sequence[Action]) -> Transaction:
    """A new user with an athlete that is nobody else's, and what lets the browser in."""
    owner = AthleteOwner(athlete_id=profile.athlete_id, user_id=profile.user_id)
    tickets = Tickets(user_id=profile.user_id)
    return transact(insert(owner), insert(profile), insert(tickets), put(connection), *entry)


@pattern(budget=Wcu(10), writes={Connection: _PUT, Profile: _CHECK, LoginSession: _ENTRY})
def connect(connection: Connection, entry: Sequence[Action]) -> Transaction:
    """A user who stays connects again, and what lets the browser in."""
    return transact(put(connection), staying(connection.user_id), *entry)


@pattern(budget=Wcu(1))
def take_ticket(user_id: str) -> Update[Tickets]:
    """The number for the next read of Strava."""
    return update(tickets_of(user_id), f(Tickets.issued).add(1))


@pattern(budget=Wcu(1))
def count_look(user_id: str, quarter: int, limit: int, limit_a_day: int) -> Update[Tickets]:
    """The number for a read that an event asks for, unless it is the first in a quarter of an hour, or over a limit."""
    changes = (f(Tickets.issued).add(1), f(Tickets.looks).add(1), f(Tickets.looks_today).add(1))
    is_within = (f(Tickets.looks).lt(limit), f(Tickets.looks_today).lt(limit_a_day))
    return update(tickets_of(user_id), *changes).when(all_of(f(Tickets.quarter).eq(quarter), *is_within))


@pattern(budget=Wcu(1))
def open_quarter(before: Tickets, quarter: int, looks_today: int) -> Update[Tickets]:
    """The same for the first in a quarter of an hour, unless another was first."""
    changes = (
        f(Tickets.issued).add(1),
        f(Tickets.quarter).set(quarter),
        f(Tickets.looks).set(1),
        f(Tickets.looks_today).set(looks_today),
    )
    seen = f(Tickets.quarter)
    return update(tickets_of(before.user_id), *changes).when(any_of(seen.missing(), seen.eq(before.quarter)))


@pattern(budget=Wcu(2))
def change_connection(connection: Connection, *changes: Change) -> Update[Connection]:
    """Change a connection, unless the user has connected again, or is not connected any more."""
    return update(connection_of(connection.user_id), *changes).when(f(Connection.link_id).eq(connection.link_id))


@pattern(budget=Wcu(1))
def drop_connection(connection: Connection) -> Delete[Connection]:
    """Forget a connection, unless the user has connected again."""
    return delete(connection_of(connection.user_id)).when(f(Connection.link_id).eq(connection.link_id))


@pattern(budget=Wcu(4))
def save_workout(workout: Workout) -> Put[Workout]:
    """Store a workout over an earlier read of it, or over none."""
    return put(workout).when(any_of(f(Workout.ticket).missing(), f(Workout.ticket).lt(workout.ticket)))


@pattern(budget=Wcu(98), writes={Workout: _PUT, Connection: _CHECK})
def save_workouts(workouts: Sequence[Workout], connection: Connection) -> Transaction:
    """Store workouts, unless a later read has stored one of them, or the connection is not the same any more."""
    return transact(*(save_workout(workout) for workout in workouts), still_linked(connection))


@pattern(budget=Wcu(50), writes={Workout: (BatchWriteItem,)})
def delete_workouts(deletes: Sequence[Delete[Workout]]) -> BatchWrite:
    """Forget up to 25 workouts."""
    return batch_write(deletes)


@pattern(budget=Wcu(50), writes={Milestone: (BatchWriteItem,)})
def delete_milestones(deletes: Sequence[Delete[Milestone]]) -> BatchWrite:
    """Forget up to 25 milestones."""
    return batch_write(deletes)


@pattern(budget=Wcu(25), writes={Award: (BatchWriteItem,)})
def delete_awards(deletes: Sequence[Delete[Award]]) -> BatchWrite:
    """Forget up to 25 awards."""
    return batch_write(deletes)


@pattern(budget=Wcu(50), writes={Request: (BatchWriteItem,)})
def delete_requests(deletes: Sequence[Delete[Request]]) -> BatchWrite:
    """Forget up to 25 requests and events."""
    return batch_write(deletes)


@pattern(budget=Wcu(1))
def close_account(user_id: str) -> Update[Profile]:
    """From now on nothing new is written for the user."""
    return update(profile_of(user_id), f(Profile.closing).set(True))


@pattern(budget=Wcu(1))
def forget_connection(user_id: str) -> Delete[Connection]:
    """Forget a user's connection, whichever it is."""
    return delete(connection_of(user_id))


@pattern(budget=Wcu(1))
def forget_tickets(user_id: str) -> Delete[Tickets]:
    """Forget how many reads there were."""
    return delete(tickets_of(user_id))


@pattern(budget=Wcu(1))
def forget_owner(athlete_id: str, user_id: str) -> Delete[AthleteOwner]:
    """Let go of an athlete, unless it is another user's by now."""
    owner = f(AthleteOwner.user_id)
    return delete(owner_of(athlete_id)).when(any_of(owner.missing(), owner.eq(user_id)))


@pattern(budget=Wcu(1))
def forget_profile(user_id: str) -> Delete[Profile]:
    """Forget a user."""
    return delete(profile_of(user_id))


@pattern(budget=Wcu(60), writes={Milestone: _PUT, Award: _PUT, Notice: _PUT, Profile: (UpdateItem,)})
def create_milestone(
    milestone: Milestone, awards: Sequence[Award], profile: Profile, notices: Sequence[Put[Notice]] = ()
) -> Transaction:
    """Write a new milestone and what it has earned already, up to 24 parts, unless the user leaves or made another."""
    return transact(insert(milestone), *(insert(award) for award in awards), *notices, one_more(profile))


@pattern(budget=Wcu(3))
def change_milestone(milestone: Milestone, *changes: Change) -> Update[Milestone]:
    """Change a milestone, over the version that was read."""
    return update(milestone, *changes)


@pattern(budget=Wcu(3))
def cancel_milestone(milestone: Milestone, reached: Progress, *changes: Change) -> Update[Milestone]:
    """Give a milestone up. What it has earned stays."""
    return MilestoneLife.cancel(milestone, *changes, f(Milestone.reached).set(reached))


@pattern(budget=Wcu(3))
def expire_milestone(milestone: Milestone, reached: Progress) -> Update[Milestone]:
    """End a milestone that was not reached in time."""
    return MilestoneLife.expire(milestone, f(Milestone.reached).set(reached))


@pattern(budget=Wcu(58), writes={Milestone: (UpdateItem,), Award: _PUT, Notice: _PUT})
def award_parts(
    milestone: Update[Milestone], awards: Sequence[Award], notices: Sequence[Put[Notice]] = ()
) -> Transaction:
    """Award parts, if nobody has, over the version of the milestone that was read. Up to 24 of them."""
    return transact(milestone, *(insert(award) for award in awards), *notices)


def still_linked(connection: Connection) -> Check:
    """Part of a transaction: the user is still connected as before."""
    return check(connection_of(connection.user_id), f(Connection.link_id).eq(connection.link_id))


def one_more(profile: Profile) -> Update[Profile]:
    """Part of a transaction: one milestone more for a user who stays, and has made no other since that was read."""
    so_far = f(Profile.commitments)
    none_since = any_of(so_far.missing(), so_far.eq(profile.commitments))  # earlier profiles have no such number
    return update(profile, so_far.set(profile.commitments + 1)).when(all_of(f(Profile.closing).eq(False), none_since))


def staying(user_id: str) -> Check:
    """Part of a transaction: the user's account is not being deleted."""
    return check(profile_of(user_id), f(Profile.closing).eq(False))
