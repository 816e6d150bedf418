"""`partita explain`: the request that an access pattern sends, and what it costs."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import closing
from typing import Any, get_args, get_origin, get_type_hints

import click
from pydantic import BaseModel, PydanticSchemaGenerationError, TypeAdapter, ValidationError

import partita
from partita import Operation, Pattern, Prefix, Session, Span
from partita.cli._data import DataFolder, data_option, store_option
from partita.cli._output import echo_json, json_option
from partita.cli._services import PatternName


@click.command()
@click.argument("pattern", type=PatternName())
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT]...")
@click.option(
    "--run", is_flag=True, help="Run it on the database, too (a write does happen), and say what it consumed."
)
@json_option
@data_option
@store_option
def explain(pattern: Pattern, arguments: Sequence[str], *, run: bool, as_json: bool, data: DataFolder) -> None:
    """Show the request of an access pattern, and its cost.

    An argument is written as in a URL: pending, 2026-01-31. A range of dates is FIRST..LAST, where either end may be
    left out; an entity is a JSON object.
    """
    operation = operation_of(pattern, arguments)
    if run:
        with closing(data.open_store(must_exist=True)) as store:
            explanation = partita.explain(operation, Session(store))
    else:
        explanation = partita.explain(operation)
    if as_json:
        echo_json(explanation)
    else:
        click.echo(str(explanation))


def operation_of(pattern: Pattern, arguments: Sequence[str]) -> Operation[Any]:
    """The operation that a pattern makes of arguments given as text.

    Raises:
        click.UsageError: there are too few or too many, or one does not fit its parameter.
    """
    names = list(pattern.signature.parameters)
    if len(arguments) != len(names):
        usage = " ".join([pattern.name, *(name.upper() for name in names)])
        raise click.UsageError(f"It takes {len(names)} arguments, not {len(arguments)}: {usage}")
    assert pattern.function is not None  # noqa: S101 - every declared pattern has one
    hints = get_type_hints(inspect.unwrap(pattern.function))
    values = [_value(name, hints[name], text) for name, text in zip(names, arguments, strict=True)]
    return pattern.function(*values)


def _value(name: str, hint: Any, text: str) -> Any:
    try:
        return _parse(hint, text)
    except (ValidationError, PydanticSchemaGenerationError) as error:
        reason = "it cannot be written on a command line"
        if isinstance(error, ValidationError):
            reason = "; ".join(_told(detail) for detail in error.errors(include_url=False, include_input=False))
        raise click.UsageError(f"{name.upper()}: {text!r} does not fit: {reason}.") from None


def _parse(hint: Any, text: str) -> Any:
    kinds = get_args(hint)
    if get_origin(hint) is Span:
        first, dots, last = text.partition("..")
        low, high = (_parse(kinds[0], end) if end else None for end in ((first, last) if dots else (text, text)))
        return Span(low, high)
    if get_origin(hint) is Prefix:
        return Prefix(_parse(kinds[0], text))
    entity = next((kind for kind in (hint, *kinds) if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
    return entity.model_validate_json(text) if entity else TypeAdapter(hint).validate_python(text)


def _told(detail: Any) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg']}" if where else str(detail["msg"])
