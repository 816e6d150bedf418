"""`partita events storm`: a burst against a running server, and an audit of the outcome."""

from __future__ import annotations

import time
from contextlib import closing
from random import Random
from urllib.parse import urlsplit

import click

from partita.cli import DataFolder, data_option, identity_of, needs_serve
from partita_services.events.loadtest.audit import Report, audit
from partita_services.events.loadtest.burst import Burst, applications, apply_all, user_names


def _check_url(context: click.Context, parameter: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's
    try:
        parts = urlsplit(value)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # the port is not a number
        is_address = False
    if not is_address:
        raise click.BadParameter("The URL must have the form http://HOST:PORT.")
    return value


@click.command()
@click.option("--users", type=click.IntRange(min=1), default=20_000, show_default=True, help="Number of users.")
@click.option("--capacity", type=click.IntRange(min=1), default=500, show_default=True, help="Number of seats.")
@click.option(
    "--duplicates", type=click.FloatRange(0, 1), default=0.3, show_default=True, help="The fraction that applies twice."
)
@click.option(
    "--cancellations",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="The fraction of the winners that cancels during the storm.",
)
@click.option("--url", default="http://127.0.0.1:8321", show_default=True, callback=_check_url, help="The server.")
@click.option("--connections", type=click.IntRange(min=1), default=64, show_default=True, help="How many in parallel.")
@click.option("--patience", type=float, default=120.0, show_default=True, help="Seconds to wait for responses.")
@click.option("--seed", type=int, default=1, show_default=True, help="Determines who applies twice, and the order.")
@data_option
@needs_serve
def storm(  # noqa: PLR0913 - one for each option
    users: int,
    capacity: int,
    duplicates: float,
    cancellations: float,
    url: str,
    connections: int,
    patience: float,
    *,
    seed: int,
    data: DataFolder,
) -> None:
    """Have very many users apply at once, and audit the outcome.

    Creates an event on a running server. Tokens are signed with the key of the data folder, which must be the server's.
    Exits with 1 if an invariant is broken: the winners are not exactly the first in the queue that have not cancelled,
    as many as there are seats; somebody was lost; or somebody has two requests.
    """
    from partita_services.events.loadtest.canceller import Canceller  # noqa: PLC0415 - of the extra `serve`
    from partita_services.events.loadtest.server import Server  # noqa: PLC0415 - of the extra `serve`

    names = list(user_names(users))
    with closing(Server(url, identity_of(data), patience)) as server:
        event_id = server.open_event(f"Storm of {users:,}", capacity)
        burst = Burst(
            f"{server.api}/events/{event_id}/requests",
            applications(names, duplicates, Random(seed)),  # noqa: S311 - no secret
            server.user_token,
            connections,
            patience,
        )
        changing = Canceller(server, event_id, cancellations, Random(seed))  # noqa: S311 - no secret
        began = time.monotonic()
        changing.start()
        try:
            with click.progressbar(length=len(burst.applications), label="Applying") as shown:
                responses = apply_all(burst, shown.update)
            seconds = time.monotonic() - began
            expected = len({each.request_id for each in responses})
            with click.progressbar(length=expected, label="Deciding") as shown:
                stored = server.decided(event_id, expected, shown.update)
        finally:
            changing.stop()
        if cancellations:
            stored = list(server.requests(event_id))
    report = audit(names, capacity, responses, stored, seconds)
    click.echo(printed(report, event_id))
    if report.faults:
        raise SystemExit(1)


def printed(report: Report, event_id: str) -> str:
    """The report as text."""
    took = report.latency
    milliseconds = [f"{seconds * 1000:,.0f} ms" for seconds in (took.p50, took.p95, took.p99, took.longest)]
    lines = [
        f"event       {event_id}",
        f"users       {report.users:,}",
        f"accepted    {report.accepted:,}",
        f"duplicates  {report.duplicates:,}, which got the request that was there",
        f"winners     {report.winners:,} of {report.capacity:,} seats",
        f"cancelled   {report.cancelled:,}, and {report.promoted:,} of the winners had been on the waiting list",
        f"inversions  {report.inversions:,}",
        f"lost        {report.lost:,}",
        "latency     p50 {}, p95 {}, p99 {}, longest {}".format(*milliseconds),
        f"responses   {report.requests_per_second:,.0f} a second",
        f"decisions   {report.decided_per_second:,.0f} a second",
        "",
        *([f"BROKEN: {fault}." for fault in report.faults] or ["Every invariant holds."]),
    ]
    return "\n".join(lines)
