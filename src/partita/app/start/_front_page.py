"""The front page: what this server is, its services with links to each, and links to everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from starlette.responses import Response

from partita.app.start._frame import page
from partita.app.start._html import Child, Markup, coded, tag
from partita.service import Service

WHAT: Final = (
    "Partita is a data layer for Amazon DynamoDB, a database that stays fast at any size because every access pattern "
    "is planned in advance. A service declares its access patterns once; they run here on one file, or on AWS."
)
_ELSEWHERE: Final = (
    ("Console", "/console/", "What every service declares and consumes, live. Operators can try reads."),
    ("APIs", "/api-docs/", "Every operation with its parameters, bodies, responses and problems."),
    ("Health", "/healthz", "Whether the store responds, for monitoring."),
    ("Metrics", "/metrics", "Latency, capacity and queues, in Prometheus' text format."),
)
_COMMANDS: Final = (
    ("partita patterns", "the access patterns of all services"),
    ("partita new service NAME", "create your own service, which is then listed above"),
    ("partita --help", "all other commands"),
)


class ServedService(Struct, frozen=True):
    """A service as the front page shows it."""

    name: str
    title: str
    summary: str
    page: str | None
    """The address of its pages; None if it has none."""
    docs: str | None
    """The address of its API description; None if it has no API."""
    patterns: int

    @classmethod
    def of(cls, service: Service) -> ServedService:
        """Return the parts of a service's declaration that the page shows."""
        folder = f"/{service.name}/"
        return cls(
            service.name,
            service.title,
            service.summary,
            folder if service.pages is not None else None,
            f"/api-docs/{service.name}" if service.router is not None else None,
            len(service.patterns),
        )


def front_page(services: Sequence[ServedService]) -> Response:
    """The page at `/`."""
    return page(
        "Partita",
        tag("div", _intro(services), _account(), class_="hero"),
        _services(services),
        _elsewhere(),
        about=WHAT,
        script="front.js",
    )


def _intro(services: Sequence[ServedService]) -> Markup:
    number = f"{len(services)} services are" if len(services) != 1 else "One service is"
    return tag("div", tag("h1", f"{number} running"), tag("p", WHAT, class_="lead"), _first_steps(), class_="intro")


def _first_steps() -> Markup:
    console = tag("a", "console", href="/console/")
    return tag(
        "ol",
        tag("li", "Sign in as a demo user, who sees the sample data of the services."),
        tag("li", "Open a service, and use it."),
        tag("li", "See in the ", console, " which access patterns it ran, and what each of them cost."),
        class_="steps",
    )


def _account() -> Markup:
    return tag(
        "div",
        tag("p", "Signing in needs JavaScript. All links on this page work without it.", class_="no-script"),
        id="account",
    )


def _services(services: Sequence[ServedService]) -> Markup:
    if not services:
        empty = tag("p", coded("No service is served. `partita serve --all` serves all that are installed."))
        return tag("section", tag("h2", "Services"), empty)
    cards = [_card(service) for service in services]
    return tag("section", tag("h2", "Services"), tag("ul", cards, class_="cards"), aria_label="Services")


def _card(service: ServedService) -> Markup:
    patterns = "1 access pattern" if service.patterns == 1 else f"{service.patterns} access patterns"
    links: list[Child] = [
        _link("Open", service.page, service.title, class_="button primary"),
        _link("API", service.docs, service.title, class_="button"),
        _link(patterns, f"/console/#/{service.name}", service.title, class_="quiet"),
    ]
    return tag(
        "li",
        tag("h3", service.title),
        tag("p", coded(service.summary)),
        tag("div", links, class_="ways"),
        class_="card",
    )


def _link(text: str, address: str | None, of: str, *, class_: str) -> Markup | None:
    """A link with the service in its hidden text, for screen reader users who hear links without their context."""
    if address is None:
        return None
    return tag(
        "a",
        text,
        tag("span", f" of {of}" if text != "Open" else f" {of}", class_="hidden"),
        href=address,
        class_=class_,
    )


def _elsewhere() -> Markup:
    places = [tag("li", tag("a", name, href=address), tag("span", about)) for name, address, about in _ELSEWHERE]
    commands = [tag("li", tag("code", command), tag("span", about)) for command, about in _COMMANDS]
    docs = coded("It is in the repository: `docs/index.md` leads to the tutorial, the guides and the reference.")
    return tag(
        "div",
        tag("section", tag("h2", "Also on this server"), tag("ul", places, class_="places")),
        tag("section", tag("h2", "Documentation"), tag("p", docs), tag("ul", commands, class_="places")),
        class_="columns",
    )
