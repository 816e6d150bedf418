"""The simulator as part of `partita serve`: it is created on the first request."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from partita.service import Installation
from partita_services.commitcollect.strava.settings import STRAVA_URL, read

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

logger: Final = logging.getLogger("partita.commitcollect")


def mounted(installation: Installation) -> Mapping[str, ASGIApp]:
    """Return the simulator, if the settings of this installation enable it; log unusual settings."""
    settings = read(installation)
    if settings.strava_url is None:
        logger.warning("Strava is not set up for CommitCollect, so nobody can sign in: set %s.", STRAVA_URL)
    if not settings.has_simulator:
        return {}
    if not settings.is_local:
        logger.warning("Anyone who reaches %s can sign in as any athlete of the Strava simulator.", settings.public_url)
    return {"/strava-simulator": SimulatorWhenAsked(installation)}


class SimulatorWhenAsked:
    """The simulator of an installation as an app, which is created on the first request."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        from partita_services.commitcollect.simulator.app import simulator_of  # noqa: PLC0415 - few servers need it

        self._app = self._app or simulator_of(self._installation)
        await self._app(scope, receive, send)
