"""The encodings of a response that an HTTP client accepts."""

from __future__ import annotations


def accepts_gzip(encodings: str) -> bool:
    """Whether the Accept-Encoding of a client accepts gzip."""
    if "gzip" not in encodings:
        return False
    offers = [offer.strip().replace(" ", "") for offer in encodings.split(",")]
    return any(offer.partition(";")[0] == "gzip" and not offer.endswith(("q=0", "q=0.0")) for offer in offers)
