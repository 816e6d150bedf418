"""The option `--processes`; the default is the number of cores that this process may use."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, Final

import click

MAX_PROCESSES: Final = 64
_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(quota: Path = _QUOTA) -> int:
    """How many cores this process may use: those that it may run on, or fewer if a container has a quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        allowed, period = quota.read_text(encoding="ascii").split()
        cores = min(cores, ceil(int(allowed) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # there is no quota, or it is "max"
        pass
    return max(1, min(cores, MAX_PROCESSES))


def default_processes() -> int:
    """The number of usable cores, or 1 if the system cannot fork processes."""
    return usable_cores() if can_share_a_port() else 1


def can_share_a_port() -> bool:
    """Whether several processes can serve on one port on this system."""
    return sys.platform != "win32"


def processes_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--processes`, passed to the command as `processes`; None if it was not given."""
    return click.option(
        "--processes",
        type=click.IntRange(1, MAX_PROCESSES),
        default=None,
        envvar="PARTITA_PROCESSES",
        show_envvar=True,
        show_default="the number of cores",
        callback=_refuse_where_impossible,
        help="Number of processes that serve on the port.",
    )(command)


def _refuse_where_impossible(context: click.Context, option: click.Parameter, given: int | None) -> int | None:
    if given is not None and given > 1 and not can_share_a_port():
        raise click.BadParameter("Only 1 process can serve on this system.", context, option)
    return given
