"""Forgetting a sink that nobody fills any more: its leases, and the heartbeats of workers that were killed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from partita.change.shared._group import view_of
from partita.change.shared._member import Membership
from partita.change.shared._model import WHOLE, end, forget, forget_stream
from partita.errors import ConditionFailed, LeaseHeld


def forget_sink(membership: Membership, table: str, *, pause: Callable[[float], object]) -> int:
    """Forget who read a table's stream for a sink, and say how many shards that were.

    Where workers are registered, it waits to see whether one of them lives. A sink that is filled again begins with
    numbers above those that it has, so none that stood still all the while can write to it.

    Raises:
        LeaseHeld: a worker lives.
    """
    session, policy, stream = membership.leases, membership.policy, membership.stream(table)
    before = session.run(view_of(stream.group))
    view = before
    if before.workers:
        pause(policy.seconds + policy.every)
        view = session.run(view_of(stream.group))
    for name, each in view.workers.items():
        seen = before.workers.get(name)
        if seen is None or seen.beat != each.beat:
            raise LeaseHeld(f"{each.name} fills {stream.sink} with {table}.", hint="Stop it first.")
    with suppress(ConditionFailed):  # somebody has begun again meanwhile, and keeps what it has
        for each in view.workers.values():
            session.run(end(each))
        for lease in view.leases.values():
            session.run(forget(lease))
        session.run(forget_stream(stream))
    return sum(shard != WHOLE and not lease.done for shard, lease in view.leases.items())
