"""Schema snapshots: the committed shape of versioned data, the effect of changes on stored items, and what to do.

schema/account_data.schema.json    the JSON Schema of the data, its keys and its data version
schema/account_data.v1.json        items as they were stored in data version 1; they must be readable forever
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct

from partita.errors import ModelError, PartitaError
from partita.model import snake
from partita.recipes.versioned._shapes import Json, SchemaDifference, bare, differences
from partita.recipes.versioned._table import Versioned, VersionedTable
from partita.store import plain_item, wire_item
from partita.values import Item

AnyTable: TypeAlias = VersionedTable[..., Any]

SNAPSHOT_FOLDER: Final = Path("schema")
"""The default folder of snapshots."""
SNAPSHOT_FOLDER_IN_TESTS: Final = Path("tests/schema")
"""The folder if the package is in the project's root, where builds might mistake `schema` for a package."""

_FROZEN_AT: Final = 1_735_689_600_000  # the `last_write` of every frozen example: 2025-01-01


class Verdict(StrEnum):
    """The result of comparing a schema with its accepted snapshot."""

    CURRENT = "current"
    NEW = "new"
    COMPATIBLE = "compatible"
    MIGRATED = "migrated"
    """The data version was raised, and there are migrations to it."""
    BREAKING = "breaking"
    LOWERED = "lowered"


class SchemaReport(Struct, frozen=True):
    """The comparison of an entity's schema with its snapshot. `str()` includes advice."""

    entity: str
    verdict: Verdict
    differences: tuple[SchemaDifference, ...] = ()
    problems: tuple[str, ...] = ()
    """Frozen items that are missing or can no longer be read."""
    advice: str = ""

    @property
    def acceptable(self) -> bool:
        """Whether the snapshot may be updated in this state."""
        return not self.problems and self.verdict not in (Verdict.BREAKING, Verdict.LOWERED)

    @property
    def settled(self) -> bool:
        """Whether there is nothing to do."""
        return not self.problems and self.verdict is Verdict.CURRENT

    def __str__(self) -> str:
        lines = [f"{self.entity}: {self.verdict}", *(f"  {difference}" for difference in self.differences)]
        lines += [f"  {problem}" for problem in self.problems]
        return "\n".join([*lines, *(f"  {line}" for line in self.advice.splitlines())])


def schema_snapshot(table: AnyTable) -> Json:
    """The content of a versioned table's snapshot: data version, keys, and the JSON Schema of its data."""
    schema = table.form.schema
    keys = {name: [key.index, *(template.text for _, template in key.attributes)] for name, key in schema.keys.items()}
    shape = bare(schema.cls.model_json_schema())
    return {"entity": schema.name, "data_version": table.form.data_version, "keys": keys} | shape


def check_schema(table: AnyTable, folder: Path = SNAPSHOT_FOLDER) -> SchemaReport:
    """Compare a versioned table with its snapshot, and read every frozen item."""
    name, path = table.form.schema.name, schema_file(table, folder)
    current = schema_snapshot(table)
    if not path.exists():
        return SchemaReport(name, Verdict.NEW, advice=f"There is no snapshot yet. {_accept(path)}")
    stored: Json = _read(path)
    verdict, changes = _compare(stored, current)
    problems = () if verdict in (Verdict.BREAKING, Verdict.LOWERED) else tuple(_frozen_problems(table, folder))
    return SchemaReport(name, verdict, changes, problems, _ADVICE[verdict](stored["data_version"], current, path))


def accept_schema(table: AnyTable, folder: Path = SNAPSHOT_FOLDER) -> tuple[Path, ...]:
    """Update the snapshot, and freeze the example if the data version is new. Return the files that were written.

    Raises:
        ModelError: the change breaks stored items, or a frozen item cannot be read.
    """
    report = check_schema(table, folder)
    if not report.acceptable:
        raise ModelError(str(report), owner=table)
    folder.mkdir(parents=True, exist_ok=True)
    wanted: dict[Path, Any] = {schema_file(table, folder): schema_snapshot(table)}
    frozen = frozen_file(table, table.form.data_version, folder)
    if not frozen.exists():
        example = Versioned(table.example, table.form.data_version, _FROZEN_AT)
        wanted[frozen] = [wire_item(table.form.item(example))]
    return tuple(path for path, content in wanted.items() if _write(path, content))


def assert_snapshot(table: AnyTable, folder: Path = SNAPSHOT_FOLDER) -> None:
    """For tests: fail unless the snapshot is current and every frozen item can be read; the message includes advice.

    Raises:
        AssertionError: the snapshot is not current, or a frozen item is missing or cannot be read.
    """
    report = check_schema(table, folder)
    if not report.settled:
        raise AssertionError(str(report))


def schema_file(table: AnyTable, folder: Path = SNAPSHOT_FOLDER) -> Path:
    """The path of a table's snapshot."""
    return folder / f"{_file_name(table)}.schema.json"


def frozen_file(table: AnyTable, version: int, folder: Path = SNAPSHOT_FOLDER) -> Path:
    """The path of the frozen items of one data version, in their stored form."""
    return folder / f"{_file_name(table)}.v{version}.json"


def frozen_items(table: AnyTable, version: int, folder: Path = SNAPSHOT_FOLDER) -> list[Item]:
    """The frozen items of one data version."""
    kept: list[Json] = _read(frozen_file(table, version, folder))
    return [plain_item(item) for item in kept]


def _compare(stored: Json, current: Json) -> tuple[Verdict, tuple[SchemaDifference, ...]]:
    before, after = stored["data_version"], current["data_version"]
    if before > after:
        return Verdict.LOWERED, ()
    if stored == current:
        return Verdict.CURRENT, ()
    changes = (*_between_keys(stored["keys"], current["keys"]), *differences(stored, current))
    if before < after:
        return Verdict.MIGRATED, changes
    breaking = any(change.breaking for change in changes)
    return (Verdict.BREAKING if breaking else Verdict.COMPATIBLE), changes


def _between_keys(stored: Json, current: Json) -> Iterator[SchemaDifference]:
    for name in [*stored, *(name for name in current if name not in stored)]:
        if name not in current:
            yield SchemaDifference(f"key {name}", "was removed", breaking=False)
        elif stored.get(name) != current[name]:
            how = "was added" if name not in stored else f"was changed from {stored[name]} to {current[name]}"
            yield SchemaDifference(f"key {name}", f"{how}: stored items get it only when rewritten", breaking=True)


def _frozen_problems(table: AnyTable, folder: Path) -> Iterator[str]:
    for version in table.form.migrations.versions(table.form.data_version):
        path = frozen_file(table, version, folder)
        if not path.exists():
            if version < table.form.data_version:
                yield f"{path} is missing: restore it, or write an item of version {version} into it."
            continue
        for item in frozen_items(table, version, folder):
            try:
                table.form.versioned(item)
            except PartitaError as error:
                yield f"{path}: an item can no longer be read: {error.message}"


def _accept(path: Path) -> str:
    return f"Run `partita schema accept`, and commit {path.parent}/."


def _advise_breaking(before: int, current: Json, path: Path) -> str:
    entity, frozen = current["entity"], path.with_name(path.name.replace(".schema.json", f".v{before}.json"))
    return (
        f"Items that are stored in data version {before} no longer fit. What to do:\n"
        f"1. Raise data_version of the VersionedTable of {entity} from {before} to {before + 1}.\n"
        f"2. Add a migration from {before} to {before + 1} to it: Migrations({{{before}: function}}), where the\n"
        f"   function takes the attributes of an item of version {before} and returns those of version {before + 1}.\n"
        f"3. {_accept(path)}\n"
        f"   {frozen} keeps an item of version {before}, which proves from now on that it can be read."
    )


def _advise_lowered(before: int, current: Json, path: Path) -> str:
    after = current["data_version"]
    return f"{path} has data version {before}, the code {after}. Items may be stored in {before}: never lower it."


_ADVICE: Final[dict[Verdict, Callable[[int, Json, Path], str]]] = {
    Verdict.CURRENT: lambda *_: "",
    Verdict.COMPATIBLE: lambda _, __, path: f"Stored items can be read as they are. {_accept(path)}",
    Verdict.MIGRATED: lambda before, current, path: (
        f"The data version was raised from {before} to {current['data_version']}. {_accept(path)}"
    ),
    Verdict.BREAKING: _advise_breaking,
    Verdict.LOWERED: _advise_lowered,
}


def _file_name(table: AnyTable) -> str:
    return snake(table.form.schema.name)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        hint = "Is there a merge conflict in it? Restore it, and then run `partita schema accept`."
        raise ModelError(f"{path} is not JSON: {error}.", hint=hint) from error


def _write(path: Path, content: Any) -> bool:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True
