"""Check that a request was sent by a page of this server, not by one of another site."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from partita.http import HttpProblem


def own_origin(request: Request) -> str:
    """Return the origin of the page that sent a request, after checking that it is this server's own.

    Browsers send the origin with every `POST`, and scripts cannot change it. The scheme is not compared, because a
    proxy may have terminated https.

    Raises:
        HttpProblem: 403, the request comes from another site or from no page at all.
    """
    origin = request.headers.get("Origin", "")
    parts = urlsplit(origin)
    is_own = parts.scheme in ("http", "https") and parts.netloc == request.headers.get("Host")
    if not is_own or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        hint = "In a program, use `partita token` or a token of the issuer."
        raise HttpProblem(403, "cross_site", "Only a page of this server may do this.", hint=hint)
    return origin
