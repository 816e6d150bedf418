"""Whether a request was sent by a page of this server, and not by one of another site."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from partita.http import HttpProblem


def own_origin(request: Request) -> str:
    """The origin of the page that sent a request, which is this server's own.

    Browsers say with every `POST` where it comes from, and no script can change that. The scheme is not compared: a
    proxy may have brought https.

    Raises:
        HttpProblem: 403, it comes from another site or from no page at all.
    """
    origin = request.headers.get("Origin", "")
    parts = urlsplit(origin)
    is_own = parts.scheme in ("http", "https") and parts.netloc == request.headers.get("Host")
    if not is_own or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        hint = "Programs use `partita token`, or a token of the issuer."
        raise HttpProblem(403, "cross_site", "Only a page of this server may ask for this.", hint=hint)
    return origin
