"""The functions that execute the writes of point-in-time recovery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from partita._sqlite import Handler
from partita.store._points import SetRecovery
from partita.store.embedded.points import _restore
from partita.store.embedded.points._settings import set_recovery

WRITES: Final[Mapping[type, Handler]] = {
    SetRecovery: set_recovery,
    _restore.BeginRestore: _restore.begin_restore,
    _restore.FillRestored: _restore.fill_restored,
    _restore.FinishRestore: _restore.finish_restore,
    _restore.AbandonRestore: _restore.abandon_restore,
}
"""The function that executes each write, by the type of the request."""
