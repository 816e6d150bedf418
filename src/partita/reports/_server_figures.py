"""What a process that serves has counted: requests by endpoint, and what they consumed by access pattern."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from partita.session import Usage, usage_sum


class EndpointFigures(Struct, frozen=True):
    """The requests of one endpoint: how many took how long."""

    method: str
    route: str
    status: int
    counts: tuple[int, ...]
    """How many fell into each bucket of the histogram, the last being all beyond."""
    seconds: float
    """All together."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What requests are counted by."""
        return self.method, self.route, self.status

    def plus(self, other: EndpointFigures) -> EndpointFigures:
        """Both added up."""
        counts = tuple(ours + theirs for ours, theirs in zip(self.counts, other.counts, strict=True))
        return EndpointFigures(self.method, self.route, self.status, counts, self.seconds + other.seconds)


class ServerFigures(Struct, frozen=True):
    """What one process, or several together, have counted since they were started."""

    usage: tuple[Usage, ...] = ()
    endpoints: tuple[EndpointFigures, ...] = ()
    replays: dict[str, int] = {}
    """Requests that got a stored response, by route."""

    def plus(self, other: ServerFigures) -> ServerFigures:
        """Both added up."""
        return ServerFigures(
            usage_sum(self.usage, other.usage),
            _endpoints_sum((*self.endpoints, *other.endpoints)),
            {
                route: self.replays.get(route, 0) + other.replays.get(route, 0)
                for route in {**self.replays, **other.replays}
            },
        )


def _endpoints_sum(endpoints: Iterable[EndpointFigures]) -> tuple[EndpointFigures, ...]:
    found: dict[tuple[str, str, int], EndpointFigures] = {}
    for each in endpoints:
        found[each.key] = found[each.key].plus(each) if each.key in found else each
    return tuple(found.values())
