"""Commands that need the packages of an extra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from importlib.util import find_spec
from typing import Final, ParamSpec, TypeVar

import click

P = ParamSpec("P")
R = TypeVar("R")

PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "aws": ("botocore",),
    "lake": ("deltalake", "pyarrow"),
    "vectors": ("numpy",),
    "serve": ("fastapi", "jinja2", "jwt", "prometheus_client", "uvicorn"),
}


def extra_with(package: str) -> str | None:
    """The extra that installs a package, or None."""
    return next((extra for extra, packages in PACKAGES.items() if package in packages), None)


def require(extra: str) -> None:
    """Raise an error that says what to install if packages of the extra are missing."""
    if missing := [package for package in PACKAGES[extra] if find_spec(package) is None]:
        names, verb = ", ".join(missing), "is" if len(missing) == 1 else "are"
        raise click.ClickException(f"{names} {verb} not installed. Install the extra: pip install 'partita[{extra}]'")


def _needs(extra: str, command: Callable[P, R]) -> Callable[P, R]:
    """The command, preceded by a check that the extra is installed."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        require(extra)
        return command(*args, **kwargs)

    return run


def needs_serve(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command fail with the `pip` command to run if the extra `serve` is missing."""
    return _needs("serve", command)


def needs_lake(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command fail with the `pip` command to run if the extra `lake` is missing."""
    return _needs("lake", command)
