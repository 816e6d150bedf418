"""The wheels alone, outside the repository: what is in them, and that the core answers without any extra."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_string
from importlib.metadata import distribution
from pathlib import Path

import pytest
from msgspec import Struct

ROOT = Path(__file__).parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]  # one build for all of them

EVERY_HELP = """
import sys, click
from click.testing import CliRunner
from partita.cli import main

def helped(command, words):
    said = CliRunner().invoke(main, [*words, "--help"], prog_name="partita")
    print("partita", *words, said.exit_code, sep=" ")
    if said.exit_code or "Usage: partita" not in said.output:
        print(said.output)
        sys.exit(f"{words} has no help")
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            helped(command.get_command(click.Context(command), name), [*words, name])

helped(main, [])
"""


class Wheel(Struct, frozen=True):
    """A built wheel."""

    path: Path

    @property
    def files(self) -> list[str]:
        with zipfile.ZipFile(self.path) as archive:
            return archive.namelist()

    def read(self, ending: str) -> str:
        """The one file whose name ends like this."""
        with zipfile.ZipFile(self.path) as archive:
            (name,) = (each for each in archive.namelist() if each.endswith(ending))
            return archive.read(name).decode()


class Environment(Struct, frozen=True):
    """An environment of its own, and a folder outside the repository to run in."""

    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment."""
        program = self.folder / "environment" / "bin" / command[0]
        home = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PARTITA"))}
        return subprocess.run(
            [program, *command[1:]],
            cwd=self.folder,
            env={**home, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "share")},
            capture_output=True,
            text=True,
            check=False,
        )


def needed(name: str) -> Iterator[str]:
    """A distribution and all that it needs without extras, as they are installed here."""
    yield name
    for requirement in distribution(name).requires or ():
        if "extra ==" in requirement or "python_version <" in requirement or "sys_platform ==" in requirement:
            continue
        yield from needed(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])


def link(name: str, site: Path) -> None:
    """Make an installed distribution importable from another environment."""
    found = distribution(name)
    for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
        if not (site / top).exists():
            (site / top).symlink_to(Path(str(found.locate_file(top))))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Wheel]:
    """Both wheels, built from the sources without asking any registry."""
    folder = tmp_path_factory.mktemp("wheels")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", folder, ROOT, ROOT / "services"], check=True, capture_output=True)
    return {path.name.partition("-")[0]: Wheel(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def core(wheels: dict[str, Wheel], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that has the wheel of the library and what that needs, and no extra."""
    folder = tmp_path_factory.mktemp("outside")
    venv.create(folder / "environment", with_pip=False)
    (site,) = (folder / "environment").glob("lib/python*/site-packages")
    for name in set(needed("partita")) - {"partita"}:
        link(name, site)
    python = str(folder / "environment" / "bin" / "python")
    install = [sys.executable, "-m", "pip", "--python", python, "install"]
    subprocess.run(
        [*install, "--quiet", "--no-deps", "--no-index", wheels["partita"].path], check=True, capture_output=True
    )
    return Environment(folder)


def test_the_library_brings_no_service(wheels: dict[str, Wheel]) -> None:
    wheel = wheels["partita"]
    assert {name.partition("/")[0] for name in wheel.files if ".dist-info/" not in name} == {"partita"}
    assert "partita.services" not in wheel.read("entry_points.txt")


def test_what_is_not_python_comes_along(wheels: dict[str, Wheel]) -> None:
    for wheel, folder in ((wheels["partita"], "src"), (wheels["partita_services"], "services/src")):
        listing = subprocess.run(
            ["git", "ls-files", "-z", folder], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        there = [name for name in listing.split("\0") if (ROOT / name).is_file()]
        assert {name.removeprefix(f"{folder}/") for name in there} <= set(wheel.files)


def test_the_services_need_the_library(wheels: dict[str, Wheel]) -> None:
    wheel = wheels["partita_services"]
    assert {name.partition("/")[0] for name in wheel.files if ".dist-info/" not in name} == {"partita_services"}
    assert "partita[serve]" in (message_from_string(wheel.read("METADATA")).get_all("Requires-Dist") or [])
    services = re.findall(
        r"^(\w+) = partita_services\.\1\.bootstrap:SERVICE$", wheel.read("entry_points.txt"), re.MULTILINE
    )
    assert sorted(services) == ["accounts", "commitcollect", "countries", "events", "todo"]


def test_the_core_has_no_extra(core: Environment) -> None:
    assert "No module named 'fastapi'" in core.run("python", "-c", "import fastapi").stderr


def test_every_command_of_the_core_has_its_help(core: Environment) -> None:
    said = core.run("python", "-c", EVERY_HELP)
    assert said.returncode == 0, said.stdout + said.stderr
    assert len(said.stdout.splitlines()) > 30
    assert core.run("partita", "--help").returncode == 0


@pytest.mark.parametrize("command", ["patterns", "serve", "cost", "docs", "seed", "worker"])
def test_without_a_service_a_command_says_what_to_do(core: Environment, command: str) -> None:
    said = core.run("partita", command)
    assert said.returncode == 1
    assert said.stderr.startswith("Error: No service is installed. ")
    assert "pip install partita-services" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_model_runs_on_the_core(core: Environment) -> None:
    code = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", code, re.MULTILINE | re.DOTALL)
    (core.folder / "readme.py").write_text("\n".join(blocks[:2]), encoding="utf-8")
    said = core.run("python", "readme.py")
    assert said.returncode == 0, said.stderr
