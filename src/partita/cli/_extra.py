"""Commands that need the packages of the extra `serve`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Final, ParamSpec, TypeVar

import click

P = ParamSpec("P")
R = TypeVar("R")

PACKAGES: Final = ("fastapi", "jinja2", "jwt", "uvicorn")


def needs_serve(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command say what to install where the extra is missing."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if missing := [package for package in PACKAGES if find_spec(package) is None]:
            message = f"{', '.join(missing)} not installed. Install the extra: pip install 'partita[serve]'"
            raise click.ClickException(message)
        return command(*args, **kwargs)

    return run
