"""The writes of CommitCollect: every write as an access pattern, with its condition and its budget.

In a transaction, writes to the table cost twice as much. So a workout costs 2 WCU, plus up to 2 for the index if its
start has changed, and the check of its connection costs 2.
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
"""The writes of a sign-in: a new session, and the deletion of the browser's previous session."""


@pattern(
    budget=Wcu(14), writes={AthleteOwner: _PUT, Profile: _PUT, Tickets: _PUT, Connection: _PUT, LoginSession: _ENTRY}
)
def join(profile: Profile, connection: Connection, entry: Sequence[Action]) -> Transaction:
    """Create a user whose athlete belongs to nobody else, together with the session of the browser."""
    owner = AthleteOwner(athlete_id=profile.athlete_id, user_id=profile.user_id)
    tickets = Tickets(user_id=profile.user_id)
    return transact(insert(owner), insert(profile), insert(tickets), put(connection), *entry)


@pattern(budget=Wcu(10), writes={Connection: _PUT, Profile: _CHECK, LoginSession: _ENTRY})
def connect(connection: Connection, entry: Sequence[Action]) -> Transaction:
    """Connect a user again whose account is not being deleted, together with the session of the browser."""
    return transact(put(connection), check_not_closing(connection.user_id), *entry)


@pattern(budget=Wcu(1))
def take_ticket(user_id: str) -> Update[Tickets]:
    """Issue the ticket for the next read of Strava."""
    return update(tickets_of(user_id), f(Tickets.issued).add(1))


@pattern(budget=Wcu(1))
def count_look(user_id: str, quarter: int, limit: int, limit_a_day: int) -> Update[Tickets]:
    """Issue the ticket for a read after an event, unless it is the first in a quarter of an hour, or over a limit."""
    changes = (f(Tickets.issued).add(1), f(Tickets.looks).add(1), f(Tickets.looks_today).add(1))
    is_within = (f(Tickets.looks).lt(limit), f(Tickets.looks_today).lt(limit_a_day))
    return update(tickets_of(user_id), *changes).when(all_of(f(Tickets.quarter).eq(quarter), *is_within))


@pattern(budget=Wcu(1))
def open_quarter(before: Tickets, quarter: int, looks_today: int) -> Update[Tickets]:
    """Issue the ticket for the first read after an event in a quarter of an hour, unless another was first."""
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
    """Change a connection, unless the user has connected again or disconnected."""
    return update(connection_of(connection.user_id), *changes).when(f(Connection.link_id).eq(connection.link_id))


@pattern(budget=Wcu(1))
def drop_connection(connection: Connection) -> Delete[Connection]:
    """Delete a connection, unless the user has connected again."""
    return delete(connection_of(connection.user_id)).when(f(Connection.link_id).eq(connection.link_id))


@pattern(budget=Wcu(4))
def save_workout(workout: Workout) -> Put[Workout]:
    """Store a workout, unless a later read of it is stored."""
    return put(workout).when(any_of(f(Workout.ticket).missing(), f(Workout.ticket).lt(workout.ticket)))


@pattern(budget=Wcu(98), writes={Workout: _PUT, Connection: _CHECK})
def save_workouts(workouts: Sequence[Workout], connection: Connection) -> Transaction:
    """Store workouts, unless a later read of one of them is stored, or the connection has changed."""
    return transact(*(save_workout(workout) for workout in workouts), check_same_link(connection))


@pattern(budget=Wcu(50), writes={Workout: (BatchWriteItem,)})
def delete_workouts(deletes: Sequence[Delete[Workout]]) -> BatchWrite:
    """Delete up to 25 workouts."""
    return batch_write(deletes)


@pattern(budget=Wcu(50), writes={Milestone: (BatchWriteItem,)})
def delete_milestones(deletes: Sequence[Delete[Milestone]]) -> BatchWrite:
    """Delete up to 25 milestones."""
    return batch_write(deletes)


@pattern(budget=Wcu(25), writes={Award: (BatchWriteItem,)})
def delete_awards(deletes: Sequence[Delete[Award]]) -> BatchWrite:
    """Delete up to 25 awards."""
    return batch_write(deletes)


@pattern(budget=Wcu(50), writes={Request: (BatchWriteItem,)})
def delete_requests(deletes: Sequence[Delete[Request]]) -> BatchWrite:
    """Delete up to 25 stored requests and events."""
    return batch_write(deletes)


@pattern(budget=Wcu(1))
def close_account(user_id: str) -> Update[Profile]:
    """Mark an account as being deleted, so that nothing new is written for the user."""
    return update(profile_of(user_id), f(Profile.closing).set(True))


@pattern(budget=Wcu(1))
def forget_connection(user_id: str) -> Delete[Connection]:
    """Delete a user's connection unconditionally."""
    return delete(connection_of(user_id))


@pattern(budget=Wcu(1))
def forget_tickets(user_id: str) -> Delete[Tickets]:
    """Delete a user's counter of reads."""
    return delete(tickets_of(user_id))


@pattern(budget=Wcu(1))
def forget_owner(athlete_id: str, user_id: str) -> Delete[AthleteOwner]:
    """Release an athlete, unless it belongs to another user now."""
    owner = f(AthleteOwner.user_id)
    return delete(owner_of(athlete_id)).when(any_of(owner.missing(), owner.eq(user_id)))


@pattern(budget=Wcu(1))
def forget_profile(user_id: str) -> Delete[Profile]:
    """Delete a user's profile."""
    return delete(profile_of(user_id))


@pattern(budget=Wcu(60), writes={Milestone: _PUT, Award: _PUT, Notice: _PUT, Profile: (UpdateItem,)})
def create_milestone(
    milestone: Milestone, awards: Sequence[Award], profile: Profile, notices: Sequence[Put[Notice]] = ()
) -> Transaction:
    """Write a new milestone and up to 24 earned parts, unless the account is closing or another one was created."""
    return transact(insert(milestone), *(insert(award) for award in awards), *notices, count_milestone(profile))


@pattern(budget=Wcu(3))
def change_milestone(milestone: Milestone, *changes: Change) -> Update[Milestone]:
    """Change the version of a milestone that was read."""
    return update(milestone, *changes)


@pattern(budget=Wcu(3))
def cancel_milestone(milestone: Milestone, reached: Progress, *changes: Change) -> Update[Milestone]:
    """Cancel a milestone. Its earned parts stay."""
    return MilestoneLife.cancel(milestone, *changes, f(Milestone.reached).set(reached))


@pattern(budget=Wcu(3))
def expire_milestone(milestone: Milestone, reached: Progress) -> Update[Milestone]:
    """Expire a milestone that was not reached in time."""
    return MilestoneLife.expire(milestone, f(Milestone.reached).set(reached))


@pattern(budget=Wcu(58), writes={Milestone: (UpdateItem,), Award: _PUT, Notice: _PUT})
def award_parts(
    milestone: Update[Milestone], awards: Sequence[Award], notices: Sequence[Put[Notice]] = ()
) -> Transaction:
    """Award up to 24 parts that are not awarded yet, with a change of the version of the milestone that was read."""
    return transact(milestone, *(insert(award) for award in awards), *notices)


def check_same_link(connection: Connection) -> Check:
    """Part of a transaction: check that the connection is unchanged."""
    return check(connection_of(connection.user_id), f(Connection.link_id).eq(connection.link_id))


def count_milestone(profile: Profile) -> Update[Profile]:
    """Part of a transaction: count a milestone, if the account is not closing and the count has not changed."""
    so_far = f(Profile.commitments)
    none_since = any_of(so_far.missing(), so_far.eq(profile.commitments))  # older profiles have no count
    return update(profile, so_far.set(profile.commitments + 1)).when(all_of(f(Profile.closing).eq(False), none_since))


def check_not_closing(user_id: str) -> Check:
    """Part of a transaction: check that the account is not being deleted."""
    return check(profile_of(user_id), f(Profile.closing).eq(False))
