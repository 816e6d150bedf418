"""The packages that faults are planted in, with their tests: the services, and the core of the library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

ROOT: Final = Path(__file__).parents[2]
SLOW_IMPORTS: Final = ("boto3", "fastapi", "httpx", "hypothesis.stateful", "schemathesis", "uvicorn")
"""Modules that are slow to import, and that no trial changes."""


class Subject(Struct, frozen=True):
    """A package that faults are planted in."""

    name: str
    package: str
    source: Path
    """The folder of the package."""
    tests: tuple[str, ...]
    """The folders of the tests that may notice a fault."""
    slow_imports: tuple[str, ...]
    modules: tuple[str, ...] = ()
    """The prefixes of the modules' paths; empty for all modules."""
    left_out: tuple[str, ...] = ()
    """Names of modules and folders without rules."""
    bar: int = 90
    """The percentage of faults that must be caught."""

    def rule_modules(self) -> list[Path]:
        """Return the modules that faults are planted in."""
        found = [(path, path.relative_to(self.source)) for path in sorted(self.source.rglob("*.py"))]
        return [
            path
            for path, relative in found
            if not set(self.left_out) & set(relative.parts)
            and len(relative.parts) > 1
            and (not self.modules or str(relative).startswith(self.modules))
        ]

    def near(self, module: str) -> str:
        """Return the path prefix of the tests of a module, which are tried first."""
        part, *_ = module.split("/")
        if self.name == "services":
            return f"tests/services/{part}/"
        return f"tests/recipes/test_{Path(module).stem}" if part == "recipes" else f"tests/{part}/"


SERVICES: Final = Subject(
    "services",
    "partita_services",
    ROOT / "services" / "src" / "partita_services",
    ("tests/services",),
    (
        *SLOW_IMPORTS,
        "partita.app",
        "partita.cli",
        "partita.recipes.versioned",
        "partita.reports",
        "partita.testing",
        "partita.wire",
    ),
    # Modules that set up a service, fill it with samples or simulate its users contain no rules.
    left_out=("bootstrap.py", "commands.py", "__init__.py", "samples", "simulator", "loadtest"),
)

CORE: Final = Subject(
    "core",
    "partita",
    ROOT / "src" / "partita",
    (
        "tests/_sqlite",
        "tests/contract",
        "tests/differential",
        "tests/expressions",
        "tests/model",
        "tests/operations",
        "tests/patterns",
        "tests/recipes",
        "tests/session",
        "tests/store",
    ),
    SLOW_IMPORTS,
    modules=(
        "_sqlite/_group_commit.py",
        "_sqlite/_pending_write.py",
        "_sqlite/_transaction.py",
        "_sqlite/_write_lock.py",
        "_sqlite/_write_queue.py",
        "_sqlite/_writer_thread.py",
        "expressions/",
        "model/keys/",
        "operations/",
        "recipes/counter.py",
        "recipes/idempotency.py",
        "recipes/leases.py",
        "session/_guardrails.py",
        "session/_pipeline.py",
        "session/_retries.py",
        "store/embedded/_keys.py",
        "store/embedded/_planned_writes.py",
        "store/embedded/_transactions.py",
        "store/embedded/_writes.py",
    ),
    left_out=("__init__.py", "_reserved.py"),
    bar=85,
)

SUBJECTS: Final[Mapping[str, Subject]] = {subject.name: subject for subject in (SERVICES, CORE)}
