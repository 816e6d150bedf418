"""`partita new`: generate an entity or a service, in the structure that all services have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from partita.cli._extras import needs_serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partita.scaffold import Name, Project, Shape

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option(
        "--index",
        "indexes",
        multiple=True,
        metavar="FIELD[:TYPE]",
        help="Field with an index and a list by it; TYPE is str or date. May be repeated.",
    ),
    click.option(
        "--field",
        "fields",
        multiple=True,
        metavar="FIELD[:TYPE]",
        help="Field; TYPE is str, int, bool or date. May be repeated. Default: a title.",
    ),
    click.option("--package", metavar="NAME", help="Package to add to, if the project has several."),
)


def _with_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group()
def new() -> None:
    """Generate an entity or a service, with its tests.

    The code passes lint, types and tests as generated.
    """


@new.command()
@click.argument("name")
@click.option("--service", metavar="NAME", help="Service that the entity belongs to, if any.")
@click.option("--owner", metavar="FIELD", help="Field that holds the owner, such as user_id.")
@_with_options
@click.option("--versioned", is_flag=True, help="Use a versioned table, with a schema snapshot and migrations.")
@needs_serve
def entity(
    name: str,
    service: str | None,
    owner: str | None,
    indexes: Sequence[str],
    fields: Sequence[str],
    package: str | None,
    *,
    versioned: bool,
) -> None:
    """Generate an entity with its own table and tests.

    Also generates its access patterns with budgets, and for a versioned entity, its schema snapshot. Existing files are
    never overwritten.
    """
    from partita.scaffold import Name, Project, new_entity

    with _told():
        project = Project.find(Path.cwd(), package)
        shape = _shape(Name.parse(name), indexes, fields, owner=owner, versioned=versioned)
        if service is not None and not (project.folder(service) / "bootstrap.py").is_file():
            raise ValueError(f"There is no service {service!r} in {project.package}. Run `partita new service` first.")
        written = new_entity(project, shape, service).write()
    _say(written, _steps_of_entity(project, shape, service))


@new.command()
@click.argument("name")
@click.option("--entity", "entity_name", metavar="NAME", help="Entity of the service. Default: the singular of NAME.")
@_with_options
@needs_serve
def service(
    name: str, entity_name: str | None, indexes: Sequence[str], fields: Sequence[str], package: str | None
) -> None:
    """Generate a service with one entity and tests.

    Generates its model, handlers, HTTP API and sample data, and adds its entry point to pyproject.toml. Existing files
    are never overwritten.
    """
    from partita.scaffold import Project, new_service, service_name

    with _told():
        service_name(name)
        project = Project.find(Path.cwd(), package)
        shape = _shape(_subject(name, entity_name), indexes, fields, owner="user_id")
        written = new_service(project, name, shape).write()
    _say(written, _steps_of_service(project, name), added_to=Path("pyproject.toml"))


@contextmanager
def _told() -> Iterator[None]:
    """Report an invalid request in one line."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _subject(service: str, given: str | None) -> Name:
    """The name of the entity of a service: the given one, or the singular of the service's name."""
    from partita.scaffold import Name, singular

    if given is not None:
        return Name.parse(given)
    try:
        return Name.parse(singular(service))
    except ValueError as error:
        raise ValueError(f"{error} To keep the name of the service, name its entity with --entity.") from None


def _shape(
    name: Name, indexes: Sequence[str], fields: Sequence[str], *, owner: str | None, versioned: bool = False
) -> Shape:
    from partita.scaffold import IN_INDEXES, FieldShape, Shape, field_name

    indexed = tuple(FieldShape.parse(text, IN_INDEXES) for text in indexes)
    others = tuple(FieldShape.parse(text) for text in fields)
    if not others and all(field.name != "title" for field in indexed):
        others = (FieldShape("title"),)
    shape = Shape(name, owner and field_name(owner), indexed, others, versioned)
    shape.check()
    return shape


def _say(written: Sequence[Path], steps: Sequence[str], added_to: Path | None = None) -> None:
    for path in written:
        click.echo(f"wrote {path}")
    if added_to is not None:
        click.echo(f"added its entry point to {added_to}")
    click.secho("Next:", bold=True)
    for number, step in enumerate(steps, start=1):
        click.echo(f"  {number}. {step}")


def _steps_of_entity(project: Project, shape: Shape, service: str | None) -> list[str]:
    tests = (project.tests(service) / f"test_{shape.name.snake}.py").relative_to(project.root)
    steps = [f"Run its tests: pytest {tests}", "Describe the entity in its docstrings, and add rules to its fields."]
    if service is not None:
        bootstrap = (project.folder(service) / "bootstrap.py").relative_to(project.root)
        imported = f"from {project.module(service)} import {shape.name.snake}"
        steps.append(f"Add its table in {bootstrap}: `{imported}`, and `{shape.name.snake}.TABLE` in `tables=`.")
        steps.append(f"See its declarations: partita patterns {service}, and partita docs {service}.")
    if shape.versioned:
        whose = service or f"--module {project.module(shape.name.snake)}"
        steps.append(f"After each change of its fields, run: partita schema check {whose}.")
    return steps


def _steps_of_service(project: Project, name: str) -> list[str]:
    steps = [
        "Install the entry point: pip install -e . (in Partita's own repository: make setup).",
        f"Run its tests: pytest {project.tests(name).relative_to(project.root)}",
        f"Use it: partita serve {name}, and partita cost {name} to see what its access patterns consume.",
        f"Write its documentation page: partita docs {name}.",
    ]
    if not project.imports_tests_by_path:
        steps.insert(1, "Add --import-mode=importlib to pytest's addopts: test files of services may share names.")
    return steps
