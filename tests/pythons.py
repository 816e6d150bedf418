"""`make pythons`: try the wheels in a clean environment of every supported Python on this machine.

Dependencies come from the registry that pip is configured for, so this is not one of the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.test_wheel import EVERY_HELP, MAIN, ROOT

SUPPORTED: Final = ("3.11", "3.12", "3.13", "3.14")


def found(version: str) -> str | None:
    """Return an interpreter of a version, from the path, pyenv or uv; None if there is none."""
    on_path = shutil.which(f"python{version}")
    places = (f".pyenv/versions/{version}.*/bin/python", f".local/share/uv/python/cpython-{version}.*/bin/python")
    others = [str(path) for place in places for path in sorted(Path.home().glob(place))]
    return next((each for each in (on_path, *others) if each is not None and _is_of(version, each)), None)


def _is_of(version: str, interpreter: str) -> bool:
    ask = [interpreter, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
    return subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip() == version


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheels of the library and of the services, and return their paths."""
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*wheel, "--wheel-dir", folder, ROOT, ROOT / "services"], check=True)
    (library,), (services,) = folder.glob("partita-*.whl"), folder.glob("partita_services-*.whl")
    return library, services


def try_out(interpreter: str, library: Path, services: Path, folder: Path) -> None:
    """Install the library alone, then the extras and the services; each time, every command must print its help."""
    subprocess.run([interpreter, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(folder, *install, str(library))
    _run(folder, python, "-c", EVERY_HELP)
    _run(folder, *install, f"{library}[aws,lake,serve]", str(services))
    _run(folder, python, "-c", EVERY_HELP)
    _run(folder, python, "-c", MAIN, "cost")


def _run(folder: Path, *command: str) -> None:
    """Run a program outside the repository, which would otherwise be imported."""
    subprocess.run(command, cwd=folder, env=_clean_environment(), stdout=subprocess.DEVNULL, check=True)


def _clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PARTITA"))}


def main(versions: Sequence[str]) -> None:
    """Try all versions, and print which are not on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        library, services = build(Path(folder))
        for version in versions or SUPPORTED:
            interpreter = found(version)
            if interpreter is None:
                print(f"Python {version}: not tried, there is none here. `uv python install {version}` brings one.")
                continue
            try_out(interpreter, library, services, Path(folder) / version)
            print(f"Python {version}: every command answers, and every cost is within its budget.")


if __name__ == "__main__":
    main(sys.argv[1:])
