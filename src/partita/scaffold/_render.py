"""The files of a new entity or service, rendered from templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec.structs import replace

from partita.scaffold._files import Scaffold
from partita.scaffold._names import article
from partita.scaffold._project import Project
from partita.scaffold._shape import IndexShape, Shape, literal

OWNER: Final = "user_id"
"""The owner of the entities of a new service: the caller."""
_CODE: Final = ("__init__.py", "handlers.py", "http.py", "bootstrap.py")
_TESTS: Final = ("conftest.py", "test_http.py", "test_bootstrap.py")


def new_entity(project: Project, shape: Shape, service: str | None = None) -> Scaffold:
    """The module and the tests of an entity with its own table, in a service or in the package itself."""
    kind, snake = "versioned" if shape.versioned else "entity", shape.name.snake
    module, tests = project.module(service, snake), project.tests(service) / f"test_{snake}.py"
    depth = len(tests.relative_to(project.root).parts) - 1
    table = "-".join(filter(None, (service and _dashed(service), shape.name.path)))
    snapshots = " / ".join(f'"{part}"' for part in project.snapshots.parts)
    known = _context(shape) | {"module": module, "service": None, "table": table}
    known |= {"depth": depth, "snapshots": snapshots}
    code = project.folder(service) / f"{snake}.py"
    files = {code: _render(f"{kind}/model.py", known), tests: _render(f"{kind}/test_model.py", known)}
    return Scaffold(
        project, files, table, snapshot=f"{module}:{shape.name.plural.upper()}" if shape.versioned else None
    )


def new_service(project: Project, service: str, shape: Shape) -> Scaffold:
    """All modules and tests of a service with one entity that is owned by the caller."""
    shape = replace(shape, owner=OWNER, versioned=False)
    package = project.module(service)
    known = _context(shape) | {
        "service": service,
        "title": service.replace("_", " ").capitalize(),
        "table": _dashed(service),
        "package": package,
        "module": f"{package}.model",
    }
    code, tests = project.folder(service), project.tests(service)
    known["shares_fixtures"] = _has_fixtures(tests.parent / "conftest.py")
    files = {code / name: _render(f"service/{name}", known) for name in _CODE}
    files[code / "model.py"] = _render("entity/model.py", known)
    files |= {tests / name: _render(f"service/{name}", known) for name in _TESTS}
    files[tests / "test_model.py"] = _render("entity/test_model.py", known)
    return Scaffold(project, files, _dashed(service), declares=service)


def _dashed(service: str) -> str:
    """The name of a service as it appears in the name of a table."""
    return service.replace("_", "-")


def _has_fixtures(conftest: Path) -> bool:
    """Whether the tests of all services already share a store and an identity."""
    return conftest.is_file() and "def identity(" in conftest.read_text(encoding="utf-8")


def _context(shape: Shape) -> dict[str, Any]:
    """The variables of the templates."""
    name, owner, count = shape.name, shape.owner, len(shape.indexes)
    indexes = [IndexShape(field.name, field.type, entity=name, owner=owner) for field in shape.indexes]
    types = {field.type for field in shape.all_fields}
    return {
        "name": name,
        "owner": owner,
        "fields": shape.all_fields,
        "indexes": indexes,
        "primary": _primary(shape),
        "create_cost": 1 + count,
        "update_cost": 1 + 2 * count,
        "list_all": f"{name.plural}_of_{(owner or '').removesuffix('_id')}",
        "owner_parameter": f"{owner}: str, " if owner else "",
        "owner_argument": '"ann", ' if owner else "",
        "key_names": ", ".join(filter(None, (owner, name.id))),
        "uses_date": "date" in types,
        "uses_bool": "bool" in types,
        "uses_int": "int" in types,
        "uses_span": any(index.ranged for index in indexes),
        "uses_indexed_date": any(index.type == "date" for index in indexes),
        "http_imports": sorted({"REQUESTS", name.cls, *(index.annotation for index in indexes)}),
        "imports": _imports(shape, indexes),
        "model_imports": _model_imports(shape, indexes),
    }


def _primary(shape: Shape) -> str:
    name, owner = shape.name, shape.owner
    if shape.versioned:
        return ", ".join(f'"{{{field}}}"' for field in (owner, name.id) if field)
    if owner is None:
        return f'"{literal(name.snake)}#{{{name.id}}}", "{literal(name.snake)}"'
    return f'"{literal(owner)}#{{{owner}}}", "{literal(name.snake)}#{{{name.id}}}"'


def _imports(shape: Shape, indexes: list[IndexShape]) -> list[str]:
    """The names that the model imports from Partita."""
    names = {"Entity", "Key", "Rcu", "Table", "Wcu", "get", "new_ulid", "pattern"}
    if not shape.versioned:
        names |= {"Delete", "Put", "Version", "delete", "insert", "put"}
        names |= {"query"} if shape.owner else set()
    names |= {"Index", "query"} if indexes else set()
    names |= {"Span"} if any(index.ranged for index in indexes) else set()
    return sorted(names)


def _model_imports(shape: Shape, indexes: list[IndexShape]) -> list[str]:
    """The names that the handlers of a service import from its model."""
    snake = shape.name.snake
    names = {shape.name.cls, f"{snake}_by_id", f"{shape.name.plural}_of_{literal(OWNER).lower()}"}
    names |= {f"{verb}_{snake}" for verb in ("create", "update", "delete")}
    names |= {index.pattern for index in indexes}
    return sorted(names | {field.annotation for field in shape.all_fields})


def _render(template: str, known: dict[str, Any]) -> str:
    templates = Environment(
        loader=PackageLoader("partita.scaffold"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Python code that contains only checked names
    )
    templates.filters["article"] = article
    return templates.get_template(f"{template}.jinja").render(known)
