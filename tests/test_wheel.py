"""The wheels outside the repository: their files, and that commands work with the core and with each extra alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator, Sequence
from email import message_from_string
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest
from msgspec import Struct

ROOT = Path(__file__).parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]  # one build for all of them

MAIN = "from partita.cli import main; main(prog_name='partita')"

EVERY_HELP = """
import sys, click
from click.testing import CliRunner
from partita.cli import main

def helped(command, words):
    said = CliRunner().invoke(main, [*words, "--help"], prog_name="partita")
    if not words:
        print(said.stdout)
    sys.stderr.write(said.stderr)
    print("partita", *words, said.exit_code, sep=" ")
    if said.exit_code or "Usage: partita" not in said.output:
        print(said.output)
        sys.exit(f"{words} has no help")
    if isinstance(command, click.Group):
        for name in set(command.list_commands(click.Context(command))) - {"lost"}:
            helped(command.get_command(click.Context(command), name), [*words, name])

helped(main, [])
"""


EACH_SAYS = """
import json, sys
from click.testing import CliRunner
from partita.cli import main

said = [CliRunner().invoke(main, words.split(), prog_name="partita") for words in sys.argv[1:]]
print(json.dumps([(each.exit_code, each.stdout, each.stderr) for each in said]))
"""


class Wheel(Struct, frozen=True):
    """A built wheel."""

    path: Path

    @property
    def files(self) -> list[str]:
        with zipfile.ZipFile(self.path) as archive:
            return archive.namelist()

    def read(self, ending: str) -> str:
        """Return the text of the only file whose name ends like this."""
        with zipfile.ZipFile(self.path) as archive:
            (name,) = (each for each in archive.namelist() if each.endswith(ending))
            return archive.read(name).decode()


class Environment(Struct, frozen=True):
    """A virtual environment, and a folder outside the repository in which its programs run."""

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

    def says(self, *commands: str) -> list[tuple[int, str, str]]:
        """Run commands one after another in one process, and return the exit code, output and errors of each."""
        said = self.run("python", "-c", EACH_SAYS, *commands)
        assert said.returncode == 0, said.stderr
        return [(code, out, err) for code, out, err in json.loads(said.stdout)]


REQUIREMENT = re.compile(r"""(?P<name>[\w.-]+)(\[(?P<extra>[\w-]+)\])?.*?(extra == ["'](?P<only>[\w-]+)["'])?$""")
ONLY_OF = {"serve": "fastapi", "aws": "botocore", "lake": "deltalake"}
"""For each extra, a module that it installs and no other extra does."""


def needed(requirements: Sequence[str], extra: str | None = None) -> Iterator[str]:
    """Yield the names of all packages that a distribution needs, without extras or with one, as installed here."""
    for requirement in requirements:
        found = REQUIREMENT.match(requirement)
        assert found is not None
        if found["only"] not in (None, extra) or "python_version <" in requirement or "sys_platform ==" in requirement:
            continue
        yield found["name"]
        yield from needed(distribution(found["name"]).requires or (), found["extra"])


def link(name: str, site: Path) -> None:
    """Make an installed distribution importable from another environment."""
    found = distribution(name)
    for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
        if not (site / top).exists():
            (site / top).symlink_to(Path(str(found.locate_file(top))))


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Wheel]:
    """Both wheels, built once for all modules that import this fixture."""
    return built(tmp_path_factory.getbasetemp() / "wheels")


@cache
def built(folder: Path) -> dict[str, Wheel]:
    """Build both wheels from the sources, without a package registry."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", folder, ROOT, ROOT / "services"], check=True, capture_output=True)
    return {path.name.partition("-")[0]: Wheel(path) for path in folder.iterdir()}


def environment_for(wheel: Wheel, folder: Path, extra: str | None = None) -> Path:
    """Create an environment with what a wheel needs, without extras or with one, and return its site-packages."""
    venv.create(folder / "environment", with_pip=False)
    (site,) = (folder / "environment").glob("lib/python*/site-packages")
    for name in set(needed(message_from_string(wheel.read("METADATA")).get_all("Requires-Dist") or [], extra)):
        link(name, site)
    return site


@pytest.fixture(scope="module")
def core(wheels: dict[str, Wheel], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel of the library and its dependencies, without extras."""
    folder = tmp_path_factory.mktemp("outside")
    environment_for(wheels["partita"], folder)
    python = str(folder / "environment" / "bin" / "python")
    install = [sys.executable, "-m", "pip", "--python", python, "install"]
    subprocess.run(
        [*install, "--quiet", "--no-deps", "--no-index", "--no-compile", wheels["partita"].path],
        check=True,
        capture_output=True,
    )
    return Environment(folder)


@pytest.fixture(scope="module")
def unpacked(wheels: dict[str, Wheel], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both wheels unpacked, which several environments share, so that its modules are compiled once."""
    folder = tmp_path_factory.mktemp("unpacked")
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel.path) as archive:
            archive.extractall(folder)
    return folder


@pytest.fixture(scope="module", params=[None, *ONLY_OF], ids=lambda extra: extra or "core")
def equipped(
    request: pytest.FixtureRequest,
    wheels: dict[str, Wheel],
    unpacked: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Environment:
    """An environment with both wheels, one extra or none, and another package whose service is broken."""
    folder = tmp_path_factory.mktemp("equipped")
    site = environment_for(wheels["partita"], folder, request.param)
    for top in unpacked.iterdir():
        (site / top.name).symlink_to(top)
    (site / "out_of_order.py").write_text("import nowhere\n", encoding="utf-8")
    metadata = site / "out_of_order-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: out-of-order\nVersion: 1\n", encoding="utf-8")
    entry = "[partita.services]\nlost = out_of_order:SERVICE\n"
    (metadata / "entry_points.txt").write_text(entry, encoding="utf-8")
    (folder / "extra").write_text(request.param or "core", encoding="utf-8")
    return Environment(folder)


def test_an_environment_has_its_extra_alone(equipped: Environment) -> None:
    extra = (equipped.folder / "extra").read_text(encoding="utf-8")
    imported = {name for name in ONLY_OF if equipped.run("python", "-c", f"import {ONLY_OF[name]}").returncode == 0}
    assert imported == {extra} - {"core"}


def test_every_command_has_its_help_with_any_extra(equipped: Environment) -> None:
    said = equipped.run("python", "-c", EVERY_HELP)
    assert said.returncode == 0, said.stdout + said.stderr
    assert {"partita countries import 0", "partita serve 0"} <= set(said.stdout.splitlines())
    assert (said.stderr, "\n  lost\n" in said.stdout) == ("", True)


def test_patterns_are_listed_with_any_extra(equipped: Environment) -> None:
    (code, out, err), named = equipped.says("patterns --json", "patterns lost")
    assert code == 0, err
    assert sorted(json.loads(out)) == ["accounts", "commitcollect", "countries", "events", "todo"]
    assert err.splitlines()[1:] == []
    assert err.startswith("Warning: The service 'lost' cannot be loaded: No module named 'nowhere' (")
    assert named == (1, "", err.replace("Warning", "Error"))


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
    version = str(message_from_string(wheels["partita"].read("METADATA"))["Version"]).rpartition(".")[0]
    needed = message_from_string(wheel.read("METADATA")).get_all("Requires-Dist") or []
    assert f"partita[serve]~={version}.0" in needed  # of the same minor version
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


def test_without_a_service_a_command_says_what_to_do(core: Environment) -> None:
    process = core.run("partita", "serve")
    said = [(process.returncode, process.stdout, process.stderr)]
    said += core.says("patterns", "serve", "cost", "docs", "seed", "worker")
    for code, out, err in said:
        assert (code, out, len(err.splitlines())) == (1, "", 1)
        assert err.startswith("Error: No service is installed. ")
        assert "pip install partita-services" in err


def test_a_model_runs_on_the_core(core: Environment) -> None:
    code = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", code, re.MULTILINE | re.DOTALL)
    (core.folder / "readme.py").write_text("\n".join(blocks[:2]), encoding="utf-8")
    said = core.run("python", "readme.py")
    assert said.returncode == 0, said.stderr
