"""Write `services/requirements.txt`: what the services need, each version with the hashes of its files.

`pip install --require-hashes -r services/requirements.txt` then takes nothing else, whichever registry it asks. The
file has no address. `make hashes` runs this; it asks the registry that pip or uv are set up with.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
FILE: Final = ROOT / "services" / "requirements.txt"
EXTRAS: Final = ("aws", "lake", "serve")
"""The extras of `partita` that a server may need."""
HEAD: Final = """\
# What the services need, with hashes: `make hashes` writes it. To install them, see docs/dependencies.md.
"""


def needed() -> list[str]:
    """What the library, its extras for servers and the services depend on, without `partita` itself."""
    library = _project("pyproject.toml")
    extras = (each for extra in EXTRAS for each in library["optional-dependencies"][extra])
    every = {*library["dependencies"], *extras, *_project("services/pyproject.toml")["dependencies"]}
    return sorted(each for each in every if not each.startswith("partita"))


def _project(path: str) -> dict[str, dict[str, list[str]]]:
    project: dict[str, dict[str, list[str]]] = tomllib.loads((ROOT / path).read_text())["project"]
    return project


def main() -> None:
    """Resolve for every platform and Python that is supported, and write the file."""
    options = ("--universal", "--python-version=3.11", "--generate-hashes", "--no-annotate", "--no-header", "--quiet")
    command = (sys.executable, "-m", "uv", "pip", "compile", "-", "-c", str(ROOT / "constraints.txt"), *options)
    found = subprocess.run(command, input="\n".join(needed()), stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603 - all ours
    FILE.write_text(HEAD + found.stdout)


if __name__ == "__main__":
    main()
