"""`python -m tests.words`: find words that this project does not use, and what to write instead.

The list has only words with one meaning. `make lint` runs this over documentation and sources.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
INSTEAD: Final = {
    r"scribes?": "writer thread",
    r"untold": "unacknowledged",
    r"AnswerLost": "ResponseLost",
    r"NotSent": "RequestNotSent",
    r"Dialer": "Connector",
    r"AnswerReader": "ResponseParser",
    r"Clerks?": "Worker",
    r"Crew": "WorkerPool",
    r"steady_text": "canonical_repr",
    r"storable": "field_checks",
    r"census": "table_stats",
    r"minting": "awarding",
    r"most_(?:items|bytes|tries)|MOST_[A-Z_]+": "max_…",
    r"anew": "again",
    r"is no (?:generator|number|text|operator|conflict|subclass|attribute)": "is not a …",
    r"PyPi": "PyPI",
    r"utili[sz]e[sd]?": "use",
    r"leverag(?:e|es|ed|ing)": "use",
    r"seamless(?:ly)?": "say what happens",
    r"blazing(?:ly)?(?: fast)?": "a figure, with the command that made it",
    r"[Ll]og(?:s|ged|ging)? out|[Ll]ogged[ -]in(?! steps)": "sign in, sign out",
    r"simply|obviously": "leave it out",
}
PATTERN: Final = re.compile("|".join(rf"\b(?P<w{n}>{word})\b" for n, word in enumerate(INSTEAD)))
CODE: Final = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def pages() -> Iterator[Path]:
    """Yield the files to check: the documentation, and the sources with their docstrings and the pages."""
    yield from ROOT.glob("*.md")
    yield from (ROOT / "docs").rglob("*.md")
    for folder in ("src", "services/src", "examples"):
        yield from (ROOT / folder).rglob("*.py")
        yield from (ROOT / folder).rglob("*.js")


def found_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield every unwanted word: its line, the word, and what to write instead. Quoted code is skipped."""
    plain = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for found in PATTERN.finditer(plain):
        (group,) = (name for name, value in found.groupdict().items() if value is not None)
        yield plain.count("\n", 0, found.start()) + 1, found[0], list(INSTEAD.values())[int(group[1:])]


def main() -> int:
    """Print the unwanted words. Return 1 if there are any."""
    count = 0
    for page in sorted(pages()):
        for line, word, instead in found_in(page.read_text(encoding="utf-8")):
            sys.stdout.write(f"{page.relative_to(ROOT)}:{line}: {word!r}: write {instead}\n")
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
