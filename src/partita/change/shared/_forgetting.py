"""Removes a sink that nobody fills any more: its leases, and the heartbeats of workers that were killed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from partita.change.shared._group import view_of
from partita.change.shared._member import Membership
from partita.change.shared._model import WHOLE, end, forget, forget_stream
from partita.errors import ConditionFailed, LeaseHeld


def forget_sink(membership: Membership, table: str, *, pause: Callable[[float], object]) -> int:
    """Remove the leases and workers of a table's stream for a sink; return how many shards were not done.

    If workers are registered, this waits to see whether one of them is alive. When the sink is filled again, the leases
    start with fences above those stored in the sink, so a worker that was stalled all the time cannot write to it.

    Raises:
        LeaseHeld: a worker is alive.
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
            raise LeaseHeld(f"The worker {each.name} fills {stream.sink} with {table}.", hint="Stop it first.")
    with suppress(ConditionFailed):  # a worker has started meanwhile, and keeps its leases
        for each in view.workers.values():
            session.run(end(each))
        for lease in view.leases.values():
            session.run(forget(lease))
        session.run(forget_stream(stream))
    return sum(shard != WHOLE and not lease.done for shard, lease in view.leases.items())
