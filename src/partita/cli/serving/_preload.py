"""What the fork server imports for `partita serve`: the web framework, and the routes of the services."""

from __future__ import annotations

import gc
import os
from contextlib import suppress

import partita.cli.serving._server_process  # noqa: F401
from partita.cli._names import named
from partita.cli.processes import PRELOAD

for _name in os.environ.get(PRELOAD, "").split():
    with suppress(Exception):  # the process that needs it says why it cannot be imported
        _service = named(_name)
        for _routes in (_service.router, _service.site) if _service is not None else ():
            if _routes is not None:
                _routes()
gc.collect()
gc.freeze()  # no collection of a fork looks at what is here, so that its memory stays shared
