"""The repository itself: portable files, pinned versions, explained dependencies."""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Written in pieces, so that this file does not contain what the test forbids.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("conda", "anaconda", "org"),
        ("repo", "maven", "apache", "org"),
    )
]
MACHINE_PATH = re.compile(r"(?<![\w.*}-])/(?:(?:work|root)(?![\w-])|(?:home|Users)/\w)")
PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.!+]*")


def tracked_texts() -> dict[str, str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    names = [name for name in listing.stdout.split("\0") if (ROOT / name).is_file()]
    return {name: (ROOT / name).read_text(encoding="utf-8", errors="replace") for name in names}


def package_name(requirement: str) -> str:
    """Return the name of the package that a requirement is for, normalised as by indexes."""
    name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def declared_dependencies() -> set[str]:
    """Return the names of all packages that the two distributions need, including the optional ones."""
    requirements: list[str] = []
    for folder in (ROOT, ROOT / "services"):
        declared = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        requirements += [*declared["build-system"]["requires"], *declared["project"]["dependencies"]]
        for extra in declared["project"].get("optional-dependencies", {}).values():
            requirements += extra
    return {package_name(requirement) for requirement in requirements}


def constraints() -> list[str]:
    return (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def test_no_tracked_file_names_a_package_registry() -> None:
    named = [(name, host) for name, text in tracked_texts().items() for host in REGISTRY_HOSTS if host in text]
    assert named == []


def test_no_tracked_file_has_a_path_of_one_machine() -> None:
    found = [(name, hit[0]) for name, text in tracked_texts().items() for hit in MACHINE_PATH.finditer(text)]
    assert found == []


def test_a_machine_path_is_recognised() -> None:
    for folder in ("work", "root", "home/me", "Users/me"):
        assert MACHINE_PATH.search(f'open("/{folder}/notes")'), folder
    for harmless in ("/workers", "/root-cause", "src/work/x", "https://example.com/work", "/home"):
        assert not MACHINE_PATH.search(harmless), harmless


def test_every_dependency_is_explained() -> None:
    explained = re.findall(
        r"^\| `([^`]+)` \| \S", (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(declared_dependencies()) == sorted(explained)


def test_constraints_are_exact_versions_only() -> None:
    assert [line for line in constraints() if not PINNED.fullmatch(line)] == []


def test_every_installed_dependency_is_pinned() -> None:
    pinned = {package_name(line) for line in constraints()}
    assert declared_dependencies() - pinned == {"partita"}  # the package itself


def hashed() -> dict[str, str]:
    """Return the requirements of the services by name, each with its version and hashes."""
    text = (ROOT / "services" / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {package_name(line): line for line in lines}


def test_the_services_are_installed_with_the_pinned_versions_and_their_hashes() -> None:
    pinned = {package_name(line): line.partition("==")[2] for line in constraints()}
    for name, line in hashed().items():
        assert re.split(r"[ ;=]+", line)[1] == pinned[name], f"{name}: run `make hashes`"
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line)


def test_the_hashes_cover_everything_that_a_server_needs() -> None:
    library, services = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in ("", "services")
    )
    extras = [each for extra in ("aws", "lake", "serve") for each in library["optional-dependencies"][extra]]
    needed = {package_name(each) for each in (*library["dependencies"], *extras, *services["dependencies"])}
    assert needed - {"partita"} <= hashed().keys(), "run `make hashes`"
    assert "://" not in (ROOT / "services" / "requirements.txt").read_text(encoding="utf-8")


def test_pages_are_waited_for_with_functions() -> None:
    """From the second poll on, an expression is evaluated as a string, which the content security policy forbids."""
    waits = re.compile(r"""wait_for_function\(\s*f?["']{1,3}(?!["'(])""")
    assert [path.name for path in (ROOT / "tests/browser").glob("*.py") if waits.search(path.read_text())] == []
