"""Makes the fork server deaf to signals that ask to stop: it ends with the supervisor, which holds its pipe."""

from __future__ import annotations

import signal

from partita.cli._signals import stop_signals

for _number in stop_signals():  # a terminal sends them to all, and so does a service manager
    signal.signal(_number, signal.SIG_IGN)
