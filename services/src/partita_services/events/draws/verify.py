"""Draws that anybody can verify: hashes, and an order that follows from seed, entries and external value alone."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Sequence
from typing import Any, Final

ALGORITHM: Final = (
    "commitment is the SHA-256 of the seed, followed by entropySource if there is one; "
    "entriesHash is the SHA-256 of the sorted entries joined by newlines; "
    "key is the seed, or HMAC-SHA256(seed, entropy) if there is entropy; entries are ranked by "
    "HMAC-SHA256(key, eventId|entry), lowest first; the first capacityTotal win, the others wait in this order"
)


def commitment_to(seed: bytes, entropy_source: str | None = None) -> str:
    """The hash that is published before the draw: it fixes the seed, and which external value will be used."""
    return hashlib.sha256(seed + (entropy_source or "").encode()).hexdigest()


def key_of(seed: bytes, entropy: str | None) -> bytes:
    """The key that ranks the entries: the seed, mixed with the external value if there is one.

    Those who know the seed cannot choose the value, and those who can choose the value do not know the seed.
    """
    return seed if entropy is None else hmac.digest(seed, entropy.encode(), "sha256")


def hash_of(entries: Collection[str]) -> str:
    """A hash that identifies a set of entries."""
    return hashlib.sha256("\n".join(sorted(entries)).encode()).hexdigest()


def ranked(key: bytes, event_id: str, entries: Collection[str]) -> list[str]:
    """The entries in the order in which they are drawn."""
    return sorted(entries, key=lambda entry: hmac.digest(key, f"{event_id}|{entry}".encode(), "sha256"))


def problems_of(draw: dict[str, Any], commitment: str | None = None, entropy: str | None = None) -> list[str]:
    """Return what is wrong with a draw, as sentences; nothing if it is correct.

    Args:
        draw: the response to `GET /events/{id}/draw`.
        commitment: the commitment that was published when the event was created.
        entropy: the value that the verifier has read at the entropy source, if the lottery has one.
    """
    if not draw.get("seed"):
        return ["The seed is not revealed yet."]
    seed, entries = bytes.fromhex(draw["seed"]), [*draw["winners"], *draw["waitingList"]]
    source, value = draw.get("entropySource"), draw.get("entropy")
    order = ranked(key_of(seed, value), draw["eventId"], entries)
    committed = commitment_to(seed, source)
    checks = (
        (commitment in (None, draw["commitment"]), "The commitment is not the one that was published."),
        (committed == draw["commitment"], "The seed, or the entropy source, does not match the commitment."),
        ((source is None) == (value is None), "The external value is missing, or has no source."),
        (entropy in (None, value), "The external value is not the one that the source has published."),
        (_is_after(draw), "The external value was supplied before the entries were frozen."),
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
