"""Builds the documentation site into `site/`: `make docs` runs it, and warnings are errors.

The pages in the repository link to each other and to files outside `docs/`, so that they can be read in place. This
script stages them in one folder (`build/pages/`) as Zensical requires, together with the project's pages (CONTRIBUTING
and others), the examples, a reference page for each public module, one for all commands, and the navigation, which
follows `docs/index.md`.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DIAGRAMS = ROOT / ".venv/npm/node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js"
KINDS = {
    "Tutorial": "Tutorial: learn by doing, one step at a time",
    "How-to": "How-to: how to do one task",
    "Reference": "Reference: look up the details",
    "Explanation": "Explanation: background and reasons",
}
PROJECT = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", "AGENTS.md", "LICENSE")
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]+)?(?=\))")
RESOURCE = re.compile(
    r"""<(?:script|link|img|iframe|source|video|audio|object)\b[^>]*\b(?:src|href|data|srcset)=["']?(?:https?:)?//[^>]*>""",
    re.IGNORECASE,
)
ZENSICAL = "import gc, zensical.main as program; gc.disable(); program.cli(prog_name='zensical')"
"""Without garbage collection, which takes a tenth of the time because a build keeps nearly all objects to its end."""
ENTRY = re.compile(r"\[((?:`[^`]*`|[^]`])+)\]\(([^)#]+)\)")


@cache
def reference() -> dict[str, Any]:
    """The globals of `docs/reference.py`, which generates the page of all public names."""
    return runpy.run_path(str(DOCS / "reference.py"))


def modules() -> tuple[str, ...]:
    """The modules that have a page in the reference."""
    found: tuple[str, ...] = reference()["MODULES"]
    return found


def sources() -> dict[Path, Path]:
    """All files of the site: their paths in the repository, and their paths on the site."""
    found = {path: path.relative_to(DOCS) for path in DOCS.rglob("*") if path.is_file() and path.suffix != ".py"}
    found |= {ROOT / name: Path("project", Path(name).stem.lower()).with_suffix(".md") for name in PROJECT}
    found |= {path: Path("examples", path.stem).with_suffix(".md") for path in (ROOT / "examples").glob("*.py")}
    return {path: place for path, place in found.items() if path.is_file() and "__pycache__" not in path.parts}


def navigation(index: str) -> Iterator[tuple[int, str, str | None]]:
    """Yield the entries of the index: level, title, and page, which is None for a section."""
    level = 0
    for line in index.splitlines():
        if heading := re.match(r"(##+) (.*)", line):
            level = len(heading[1]) - 2
            yield level, heading[2], None
        elif line.startswith("- "):
            for title, page in ENTRY.findall(line):
                yield level + 1, _heading(page) if title.startswith("its ") else title[0].upper() + title[1:], page


def _heading(page: str) -> str:
    """The title of a page, for links whose text says less."""
    return (DOCS / page).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def without_empty(entries: list[tuple[int, str, str | None]]) -> list[tuple[int, str, str | None]]:
    """The navigation without empty sections."""
    kept: list[tuple[int, str, str | None]] = []
    for entry in reversed(entries):
        level, _, page = entry
        if page is not None or (kept and kept[-1][0] > level):
            kept.append(entry)
    return kept[::-1]


def kinds(index: str) -> dict[str, str]:
    """The kind of each page, one of four."""
    found: dict[str, str] = {}
    kind = ""
    for level, title, page in navigation(index):
        if page is None:
            kind = title if level == 0 else kind
        else:
            found.setdefault(page, kind)
    return found


def summary(index: str) -> str:
    """The navigation as Zensical reads it: a nested list with each page once."""
    lines = ["- [Partita](index.md)"]
    seen = {"index.md"}
    for level, title, page in without_empty(list(navigation(index))):
        if page is None:
            lines.append(f"{'    ' * level}- {title}")
        elif page not in seen:
            seen.add(page)
            lines.append(f"{'    ' * level}- [{title}]({page})")
            lines += [f"{'    ' * level}- [{name}](reference/{file}.md)" for name, file in _generated(page)]
    rows = ["- Project", *(f"    - [{_title(place)}]({place.as_posix()})" for place in _project())]
    return "\n".join([*lines, *rows, "- Examples", *_example_rows(), ""])


def _generated(page: str) -> list[tuple[str, str]]:
    """The titles and names of the generated pages that follow a page of the repository."""
    if page == "cli.md":
        return [(_commands()["TITLE"], "commands")]
    return [(name, name) for name in modules()] if page == "reference.md" else []


def _commands() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "commands.py"))


def _project() -> list[Path]:
    places = sources()
    return [places[ROOT / name] for name in PROJECT if ROOT / name in places]


def _example_rows() -> list[str]:
    places = [place for path, place in sources().items() if path.parent.name == "examples"]
    return [f"    - [{place.stem}.py]({place.as_posix()})" for place in sorted(places)]


def _title(place: Path) -> str:
    return {"agents": "Layers, rules and checklists"}.get(place.stem, place.stem.replace("_", " ").capitalize())


def rewritten(text: str, path: Path, places: dict[Path, Path]) -> str:
    """Rewrite the links of a page to the paths that their targets have on the site."""
    here = places[path].parent

    def moved(found: re.Match[str]) -> str:
        target = (path.parent / found[1]).resolve()
        if target == ROOT / "README.md":
            target = DOCS / "index.md"
        if target.is_dir():
            target = next((each for each in sorted(target.iterdir()) if each in places), target)
        if target not in places:
            return f"{found[1]}{found[2] or ''}"
        return os.path.relpath(places[target], here).replace(os.sep, "/") + (found[2] or "")

    return LINK.sub(moved, text)


def unlinked(text: str, path: Path, places: dict[Path, Path]) -> str:
    """Replace links to files that are not on the site by their text."""

    def named(found: re.Match[str]) -> str:
        target = (path.parent / found[2].partition("#")[0]).resolve()
        known = target in places or target.is_dir() or target == ROOT / "README.md"
        return found[0] if known or found[2].startswith(("http", "#", "mailto:")) else found[1]

    return re.sub(r"(?<!!)\[((?:`[^`]*`|[^]`])+)\]\(([^)\s]+)\)", named, text)


def labelled(text: str, kind: str) -> str:
    """Add the kind of a page below its title."""
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{KINDS[kind]}\n{{ .kind }}\n{rest}" if kind in KINDS and title.startswith("# ") else text


def reference_page(name: str) -> str:
    """The page of a public module: its documentation, and all public names with signatures and documentation."""
    lines = [f"# {name}", "", f"::: {name}", "    options:", "      members: false", ""]
    for each in public_names(name):
        lines += [f"::: {name}.{each}", "    options:", "      show_root_heading: true", "      heading_level: 2", ""]
    return "\n".join(lines)


def public_names(name: str) -> list[str]:
    """The public names of a module, in order."""
    names: list[str] = reference()["public_names"](name)
    return sorted(names, key=lambda each: (each.isupper(), each.lower()))


def stage(folder: Path) -> None:
    """Write all pages to a folder, as Zensical requires."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    places, kind_of = sources(), kinds(index)
    shutil.rmtree(folder, ignore_errors=True)
    for path, place in places.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix not in (".md", ".py", ""):
            shutil.copyfile(path, target)
            continue
        target.write_text(_staged(path, places, kind_of.get(place.as_posix(), "")), encoding="utf-8")
    for name in modules():
        target = folder / "reference" / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(reference_page(name), encoding="utf-8")
    (folder / "reference" / "commands.md").write_text(_commands()["page"](), encoding="utf-8")
    (folder / "SUMMARY.md").write_text(summary(index), encoding="utf-8")
    (folder / "assets").mkdir(exist_ok=True)
    shutil.copyfile(DIAGRAMS, folder / "assets" / "mermaid.js")


def _staged(path: Path, places: dict[Path, Path], kind: str) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return f"# {path.name}\n\nA whole program: `python examples/{path.name}`.\n\n```python\n{text}```\n"
    if path.name == "LICENSE":
        return f"# License\n\n```text\n{text}```\n"
    return labelled(rewritten(unlinked(text, path, places), path, places), kind)


def from_outside(folder: Path) -> list[str]:
    """The resources that the pages of a built site would load from other hosts."""
    return [
        f"{page.relative_to(folder)}: {found[0]}"
        for page in sorted(folder.rglob("*.html"))
        for found in RESOURCE.finditer(page.read_text(encoding="utf-8"))
        if 'rel="canonical"' not in found[0]
    ]


def drop_unused_scripts(folder: Path) -> None:
    """Remove the script that draws diagrams, which is large, from all pages without diagrams."""
    script = re.compile(r'<script src="[^"]*assets/mermaid\.js"></script>')
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if 'class="mermaid"' not in text:
            page.write_text(script.sub("", text), encoding="utf-8")


def main() -> int:
    """Build the site, and report errors."""
    if not DIAGRAMS.exists():
        sys.exit(f"{DIAGRAMS} is missing: run `make .venv/npm/.ready`.")
    stage(ROOT / "build" / "pages")
    command = [sys.executable, "-c", ZENSICAL, "build", "--strict", "--clean"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603
    sys.stdout.write(built.stdout)
    (ROOT / "site" / "SUMMARY.html").unlink(missing_ok=True)  # the source of the navigation, which every page includes
    drop_unused_scripts(ROOT / "site")
    outside = from_outside(ROOT / "site")
    sys.stdout.writelines(f"loaded from another host: {each}\n" for each in outside)
    return built.returncode or int("griffe: " in built.stdout or bool(outside))


if __name__ == "__main__":
    sys.exit(main())
