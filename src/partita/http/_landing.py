"""The landing page: every service with its access patterns, in one HTML document that loads nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from partita.service import Service, summary_of

SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def render_landing(services: Sequence[Service]) -> str:
    """The page for the services, as HTML."""
    templates = Environment(
        loader=PackageLoader("partita.http"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    summaries = {service.name: [summary_of(pattern) for pattern in service.patterns] for service in services}
    return templates.get_template("landing.html").render(services=services, patterns=summaries)


def landing_response(page: str) -> HTMLResponse:
    """The page as a response that a browser lets load nothing else."""
    return HTMLResponse(page, headers=SECURITY)
