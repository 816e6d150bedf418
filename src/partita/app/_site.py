"""What a page needs to know about its server: the other services, and the ways to sign in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partita.app.signin import SignIn
from partita.service import Service


def site_of(services: Sequence[Service], sign_in: SignIn) -> dict[str, Any]:
    """The content of `/site.json`, which is public."""
    return {
        "services": [{"name": each.name, "title": each.title, "page": _page_of(each)} for each in services],
        "sign_in": {"demo": sign_in.demo is not None, "issuer": sign_in.issuer_name},
    }


def _page_of(service: Service) -> str | None:
    return None if service.pages is None else f"/{service.name}/"
