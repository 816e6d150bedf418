"""The access pattern that writes the name on a request."""

from __future__ import annotations

from partita import Update, Wcu, f, pattern, update
from partita_services.events.model import Request


@pattern(budget=Wcu(3))
def name_request(request: Request, display_name: str | None, *, shows_name: bool) -> Update[Request]:
    """Write the name on a request, and whether others may see it."""
    name = f(Request.display_name)
    named = name.remove() if display_name is None else name.set(display_name)
    return update(request, named, f(Request.shows_name).set(shows_name))
