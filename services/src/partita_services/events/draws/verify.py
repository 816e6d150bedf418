"""What makes a draw one that anybody can verify: hashes, and an order that follows from seed and entries alone."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Sequence
from typing import Any, Final

ALGORITHM: Final = (
    "entriesHash is the SHA-256 of the sorted entries joined by newlines; entries are ranked by "
    "HMAC-SHA256(seed, eventId|entry), lowest first; the first capacityTotal win, the others wait in this order"
)


def commitment_to(seed: bytes) -> str:
    """What is published of a seed before the draw."""
    return hashlib.sha256(seed).hexdigest()


def hash_of(entries: Collection[str]) -> str:
    """What distinguishes one set of entries from any other."""
    return hashlib.sha256("\n".join(sorted(entries)).encode()).hexdigest()


def ranked(seed: bytes, event_id: str, entries: Collection[str]) -> list[str]:
    """The entries in the order in which they are drawn."""
    return sorted(entries, key=lambda entry: hmac.digest(seed, f"{event_id}|{entry}".encode(), "sha256"))


def problems_of(draw: dict[str, Any], commitment: str | None = None) -> list[str]:
    """What is wrong with a draw as the API gives it; `commitment` is what was published when the event was created."""
    if not draw.get("seed"):
        return ["The seed is not revealed yet."]
    seed, entries = bytes.fromhex(draw["seed"]), [*draw["winners"], *draw["waitingList"]]
    order = ranked(seed, draw["eventId"], entries)
    checks = (
        (commitment in (None, draw["commitment"]), "The commitment is not the one that was published."),
        (commitment_to(seed) == draw["commitment"], "The seed is not the one that was committed to."),
        (len(set(entries)) == len(entries), "An entry was drawn twice."),
        (hash_of(entries) == draw["entriesHash"], "The entries are not those that were frozen."),
        (_first(order, draw) == draw["winners"], "The winners are not those that the seed draws."),
        (order == entries, "The waiting list is not in the order that the seed draws."),
    )
    return [problem for is_right, problem in checks if not is_right]


def _first(order: Sequence[str], draw: dict[str, Any]) -> list[str]:
    return list(order[: draw["capacityTotal"]])
