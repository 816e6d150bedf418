"""Notices of awards: written in the transaction that awards the parts, for a sender that the operator chooses.

They name the model and its parts, but contain nothing about workouts. The sender must know how to reach the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from partita import Key, Put, Rcu
from partita.queue import Body
from partita.recipes.outbox import Outbox, OutboxRecord
from partita_services.commitcollect.model import TABLE, Award, Milestone


class Notice(OutboxRecord, table=TABLE):
    """A notice that is not in its queue yet."""

    primary: ClassVar = Key("NOTICES#{shard}", "NOTICE#{message_id}")


class PartsAwarded(Body, frozen=True):
    """A user has earned parts, and the whole model with the last of them."""

    kind = "parts_awarded"

    user_id: str
    milestone_id: str
    model: str
    parts: tuple[str, ...]
    is_complete: bool


NOTICES: Final = Outbox(Notice, budget=Rcu(7))


def notices_of(milestone: Milestone, awards: Sequence[Award], now: float) -> list[Put[Notice]]:
    """Return the notices for the transaction that awards parts; none if there are no parts."""
    if not awards:
        return []
    body = PartsAwarded(
        user_id=milestone.user_id,
        milestone_id=milestone.milestone_id,
        model=milestone.model_name or milestone.model_id,
        parts=tuple(award.part_name for award in awards),
        is_complete=awards[-1].part_index == milestone.parts_total,
    )
    return [NOTICES.message(body, group=milestone.user_id, now=now)]
