"""What makes a draw one that anybody can verify: hashes, and an order that follows from seed and entries alone."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Sequence
from typing import Any, Final

ALGORITHM: Final = (
    "commitment is the SHA-256 of the seed, followed by entropySource where there is one; "
    "entriesHash is the SHA-256 of the sorted entries joined by newlines; "
    "key is the seed, or HMAC-SHA256(seed, entropy) where there is entropy; entries are ranked by "
    "HMAC-SHA256(key, eventId|entry), lowest first; the first capacityTotal win, the others wait in this order"
)


def commitment_to(seed: bytes, entropy_source: str | None = None) -> str:
    """What is published before the draw: it fixes the seed, and which value from outside will be used."""
    return hashlib.sha256(seed + (entropy_source or "").encode()).hexdigest()


def key_of(seed: bytes, entropy: str | None) -> bytes:
    """What ranks the entries: the seed, mixed with the value from outside where there is one.

    Who knows the seed cannot choose the value, and who can choose the value does not know the seed.
    """
    return seed if entropy is None else hmac.digest(seed, entropy.encode(), "sha256")


def hash_of(entries: Collection[str]) -> str:
    """What distinguishes one set of entries from any other."""
    return hashlib.sha256("\n".join(sorted(entries)).encode()).hexdigest()


def ranked(key: bytes, event_id: str, entries: Collection[str]) -> list[str]:
    """The entries in the order in which they are drawn."""
    return sorted(entries, key=lambda entry: hmac.digest(key, f"{event_id}|{entry}".encode(), "sha256"))


def problems_of(draw: dict[str, Any], commitment: str | None = None, entropy: str | None = None) -> list[str]:
    """What is wrong with a draw as the API gives it.

    Args:
        draw: the response to `GET /events/{id}/draw`.
        commitment: what was published when the event was created.
        entropy: the value that whoever verifies has read at the source, where the lottery has one.
    """
    if not draw.get("seed"):
        return ["The seed is not revealed yet."]
    seed, entries = bytes.fromhex(draw["seed"]), [*draw["winners"], *draw["waitingList"]]
    source, value = draw.get("entropySource"), draw.get("entropy")
    order = ranked(key_of(seed, value), draw["eventId"], entries)
    committed = commitment_to(seed, source)
    checks = (
        (commitment in (None, draw["commitment"]), "The commitment is not the one that was published."),
        (committed == draw["commitment"], "The seed, or the source of entropy, is not what was committed to."),
        ((source is None) == (value is None), "The value from outside is missing, or has no source."),
        (entropy in (None, value), "The value from outside is not the one that the source has published."),
        (_is_after(draw), "The value from outside was given before the entries were frozen."),
        (len(set(entries)) == len(entries), "An entry was drawn twice."),
        (hash_of(entries) == draw["entriesHash"], "The entries are not those that were frozen."),
        (_first(order, draw) == draw["winners"], "The winners are not those that the seed draws."),
        (order == entries, "The waiting list is not in the order that the seed draws."),
    )
    return [problem for is_right, problem in checks if not is_right]


def _is_after(draw: dict[str, Any]) -> bool:
    return draw.get("entropyAt") is None or draw["entropyAt"] >= draw["drawnAt"]


def _first(order: Sequence[str], draw: dict[str, Any]) -> list[str]:
    return list(order[: draw["capacityTotal"]])
