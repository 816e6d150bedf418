"""`make release-check`: check both wheels as they would be published, and every extra in its own environment.

Dependencies come from the registry that pip is configured for, so this is not one of the tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from pathlib import Path
from typing import Final

from tests.pythons import SUPPORTED, build
from tests.test_wheel import ROOT, Wheel

IMPORTS: Final = {
    "": "partita, partita.testing, partita.wire, partita.transfer, partita.queue.embedded",
    "aws": "partita.store.remote, partita.queue.sqs, botocore",
    "cdk": "partita.deploy.cdk",
    "lake": "partita.change.lake",
    "serve": "partita.app, partita.http, partita.scaffold, partita.console",
}
"""The modules that must be importable with each extra alone."""
FOREIGN: Final = re.compile(r"(^|/)(tests|bench|docs|__pycache__)/|\.(db|pyc|log)$")


def faults_of(wheel: Wheel, version: str) -> Iterator[str]:
    """Yield what is wrong with the files and the metadata of a wheel."""
    metadata = message_from_string(wheel.read("METADATA"))
    name = wheel.path.name
    yield from (f"{name} contains {file}" for file in wheel.files if FOREIGN.search(file))
    if not any(file.endswith("/py.typed") for file in wheel.files):
        yield f"{name} is not typed: py.typed is missing"
    if not any(file.endswith("licenses/LICENSE") for file in wheel.files):
        yield f"{name} has no license"
    if metadata["Version"] != version:
        yield f"{name} is of version {metadata['Version']}, not {version}"
    yield from (f"{name} {fault}" for fault in metadata_faults(metadata))


def metadata_faults(metadata: Message) -> Iterator[str]:
    """Yield what is missing in the metadata of a wheel."""
    yield from (
        f"has no {field}" for field in ("Summary", "Requires-Python", "License-Expression") if not metadata[field]
    )
    if not str(metadata.get_payload()).startswith("# "):
        yield "has no description"
    classifiers = set(metadata.get_all("Classifier") or [])
    pythons = {f"Programming Language :: Python :: {version}" for version in SUPPORTED}
    yield from (f"lacks the classifier {each}" for each in sorted(pythons - classifiers))


def is_in_changelog(version: str) -> bool:
    """Whether the changelog has a section for a version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.search(rf"^## \[?{re.escape(version)}\]?", text, re.MULTILINE) is not None


def try_extra(extra: str, library: Path, folder: Path) -> None:
    """Install the library with one extra into a clean environment, and import the modules of the extra."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    wanted = f"{library}[{extra}]" if extra else str(library)
    pinned = ["-c", str(ROOT / "constraints.txt")]
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned, wanted], check=True
    )
    home = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PARTITA"))}
    subprocess.run([python, "-c", f"import {IMPORTS[extra]}"], cwd=folder, env=home, check=True)


def main(release: str = "") -> int:
    """Build and check the wheels, and print what is wrong. Return 1 if anything is."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    faults = [] if release in ("", declared) else [f"The tag says {release}, pyproject.toml says {declared}."]
    if release and not is_in_changelog(release):
        faults.append(f"CHANGELOG.md has no section for {release}.")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    wheels = build(dist)
    faults += [fault for wheel in wheels for fault in faults_of(Wheel(wheel), declared)]
    with tempfile.TemporaryDirectory() as folder:
        for extra in IMPORTS if not faults else ():
            try_extra(extra, wheels[0], Path(folder) / (extra or "core"))
            sys.stdout.write(f"{extra or 'the core'}: imports what it brings\n")
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
