"""The counts of a server process: requests by endpoint, and consumption by access pattern."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from partita.session import Usage, usage_sum


class EndpointFigures(Struct, frozen=True):
    """The requests of one endpoint, as a histogram of their durations."""

    method: str
    route: str
    status: int
    counts: tuple[int, ...]
    """The number of requests in each bucket of the histogram; the last bucket is unbounded."""
    seconds: float
    """The sum of all durations."""

    @property
    def key(self) -> tuple[str, str, int]:
        """The key by which requests are counted."""
        return self.method, self.route, self.status

    def plus(self, other: EndpointFigures) -> EndpointFigures:
        """The sum of both."""
        counts = tuple(ours + theirs for ours, theirs in zip(self.counts, other.counts, strict=True))
        return EndpointFigures(self.method, self.route, self.status, counts, self.seconds + other.seconds)


class ServerFigures(Struct, frozen=True):
    """The counts of one process, or of several together, since their start."""

    usage: tuple[Usage, ...] = ()
    endpoints: tuple[EndpointFigures, ...] = ()
    replays: dict[str, int] = {}
    """Requests that got a stored response, by route."""

    def plus(self, other: ServerFigures) -> ServerFigures:
        """The sum of both."""
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
