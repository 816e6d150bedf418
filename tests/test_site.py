"""The documentation site: every public name has its place, links are valid, and nothing is loaded from other hosts."""

from __future__ import annotations

import inspect
import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
REFERENCE = runpy.run_path(str(ROOT / "docs/reference.py"))
SITE = runpy.run_path(str(ROOT / "docs/site.py"))
SOURCE = ROOT / "src" / "partita"


def public_modules() -> set[str]:
    """Return the packages and modules of the library that have no part with a leading underscore in their names."""
    files = [path.relative_to(SOURCE.parent) for path in SOURCE.rglob("*.py")]
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files}
    return {name for name in names if not any(part.startswith("_") for part in name.split("."))}


def test_every_public_module_has_a_place_in_the_reference() -> None:
    assert public_modules() == {*REFERENCE["MODULES"], *REFERENCE["INNER"]}


def is_documented(module: str, name: str) -> bool:
    """Whether a name has its own documentation, and not only that of its type."""
    if module in REFERENCE["READ"]:
        return bool(REFERENCE["_documented"](module)[name])
    thing = getattr(import_module(module), name)
    own = getattr(thing, "__doc__", None)
    if own and (inspect.isclass(thing) or inspect.isfunction(thing) or own != type(thing).__doc__):
        return True
    return bool(REFERENCE["_below_assignment"](name, thing))


def has_signature(thing: object) -> bool:
    """Whether every argument of a function, or of the constructor of a class, has a type.

    A class without its own `__init__` is created from its fields, which have types, or like its base. A protocol is
    never instantiated.
    """
    made = vars(thing).get("__init__") if inspect.isclass(thing) else thing
    if not inspect.isfunction(made) or getattr(thing, "_is_protocol", False):
        return True
    arguments = list(inspect.signature(made).parameters.values())[int(made is not thing) :]  # without self
    return all(each.annotation is not inspect.Parameter.empty for each in arguments)


def test_an_argument_without_a_type_is_noticed() -> None:
    class Made:
        def __init__(self, value) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
            self.value = value

    assert not has_signature(Made)
    assert not has_signature(lambda value: value)
    assert has_signature(has_signature)


@pytest.mark.parametrize("module", REFERENCE["MODULES"])
def test_every_public_name_has_documentation_a_signature_and_a_place(module: str) -> None:
    names = REFERENCE["public_names"](module)
    page = SITE["reference_page"](module)
    assert names
    assert [name for name in names if not is_documented(module, name)] == []
    assert [name for name in names if f"::: {module}.{name}\n" not in page] == []
    if module not in REFERENCE["READ"]:
        assert [name for name in names if not has_signature(getattr(import_module(module), name))] == []


def test_the_index_is_of_the_four_kinds() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    kinds = [title for level, title, page in SITE["navigation"](index) if page is None and level == 0]
    assert [kind for kind in kinds if kind not in SITE["KINDS"]] == []
    assert [page for page, kind in SITE["kinds"](index).items() if kind not in SITE["KINDS"]] == []


def test_every_page_begins_with_its_kind_and_its_readers() -> None:
    kinds: dict[str, str] = SITE["kinds"]((ROOT / "docs/index.md").read_text(encoding="utf-8"))
    assert len(kinds) > 100
    begins = {page: (ROOT / "docs" / page).read_text(encoding="utf-8").split("\n\n", 2)[1] for page in kinds}
    records = {page for page in kinds if page.startswith("decisions/")}
    assert [page for page in records if not begins[page].startswith("Status: ")] == []
    others = [(page, kind) for page, kind in kinds.items() if page not in records]
    readers = r"( and \w+)?, (for people|for teams|step \d of)"
    assert [
        page for page, kind in others if not re.match(rf"\*({kind}|[\w-]+ and {kind.lower()}){readers}", begins[page])
    ] == []


@pytest.mark.parametrize(
    ("html", "is_refused"),
    [
        ('<script src="https://example.com/a.js"></script>', True),
        ('<link rel="stylesheet" href="//example.com/a.css">', True),
        ("<img src=http://example.com/a.png>", True),
        ('<script src="../assets/a.js"></script>', False),
        ('<a href="https://example.com/">there</a>', False),
    ],
)
def test_what_is_loaded_from_outside_is_recognised(html: str, *, is_refused: bool, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    assert bool(SITE["from_outside"](tmp_path)) is is_refused


ANCHOR = re.compile(r"""\s(?:id|name)=["']?([^\s"'>]+)""")
HREF = re.compile(r"""<a\b[^>]*?\shref=["']?([^\s"'>]+)""")


@pytest.mark.slow
@pytest.mark.timeout(1200)  # it takes half a minute of one core
@pytest.mark.xdist_group("site")
def test_the_site_is_whole() -> None:
    """The site is built without a warning, and every link leads to a page, and to a heading that exists."""
    built = subprocess.run(
        [sys.executable, ROOT / "docs/site.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    site = ROOT / "site"
    texts = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html") if page.name != "404.html"}
    anchors = {page: set(ANCHOR.findall(text)) for page, text in texts.items()}
    broken = []
    for page, text in texts.items():
        for href in set(HREF.findall(text)):
            if href.startswith(("http:", "https:", "mailto:", "javascript:")):
                continue
            path, _, anchor = unquote(href).partition("#")
            target = Path(os.path.normpath(page.parent / path)) if path else page
            if not target.exists() or (anchor and target in anchors and anchor not in anchors[target]):
                broken.append(f"{page.relative_to(site)}: {href}")
    assert broken == []
    names = [f"{module}.{name}" for module in REFERENCE["MODULES"] for name in REFERENCE["public_names"](module)]
    reference = {module: anchors[site / "reference" / f"{module}.html"] for module in REFERENCE["MODULES"]}
    assert [name for name in names if name not in reference[name.rpartition(".")[0]]] == []
