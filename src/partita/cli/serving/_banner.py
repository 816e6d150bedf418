"""The banner that `partita serve` prints when it is ready: the front page, how to sign in, and all addresses."""

from __future__ import annotations

from collections.abc import Sequence

from partita.cli._data_folder import EMBEDDED, DataFolder
from partita.service import Service


def banner(
    services: Sequence[Service], data: DataFolder, base: str | None, issuer: str | None, *, link: str | None = None
) -> str:
    """The text of the banner.

    Args:
        services: the served services.
        data: the data folder.
        base: the URL of the server, without a slash at the end.
        issuer: the issuer whose tokens are accepted; None for the tokens of this installation.
        link: the link that signs in once; None if there is none.
    """
    place = data.path if data.store == EMBEDDED else data.store
    rows = [(service.title, _place(service, f"{base}/{service.name}/")) for service in services]
    rows += [("APIs", f"{base}/api-docs/"), ("Console", f"{base}/console/")]
    width = max(len(title) for title, _ in rows)
    lines = [f"Partita serves at {base}/ from {place}", ""]
    if link is not None:
        lines += [f"Open this link to sign in (it works once, within ten minutes):\n  {link}", ""]
    lines += [f"  {title:<{width}}  {text}" for title, text in rows]
    own = f"{'For programs' if link else 'Get a token'}:\n  partita token --user demo --data {data.path}"
    return "\n".join([*lines, "", own if issuer is None else f"Accepts tokens of {issuer}.", "Stop with Ctrl-C."])


def _place(service: Service, folder: str) -> str:
    """The addresses of a service."""
    if service.router is None:
        return folder if service.pages is not None or service.site is not None else "has no API: see the console"
    return f"{folder} (API at {folder}api)" if service.pages is not None else f"{folder}api"
