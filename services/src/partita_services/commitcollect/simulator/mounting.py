"""The simulator beside CommitCollect in `partita serve`: it is made when it is first asked for something."""

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
    """The simulator beside a service of this machine that no other Strava was named to; what is unusual is logged."""
    settings = read(installation)
    if settings.strava_url is None:
        logger.warning("CommitCollect has no Strava, so nobody can log in: set %s.", STRAVA_URL)
    if not settings.has_simulator:
        return {}
    if not settings.is_local:
        logger.warning("Whoever reaches %s can log in as any athlete of the Strava simulator.", settings.public_url)
    return {"/strava-simulator": SimulatorWhenAsked(installation)}


class SimulatorWhenAsked:
    """The simulator of an installation, as an app."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        from partita_services.commitcollect.simulator.app import simulator_of  # noqa: PLC0415 - few ever ask it

        self._app = self._app or simulator_of(self._installation)
        await self._app(scope, receive, send)
