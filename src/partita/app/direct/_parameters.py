"""Read parameters from path, query, headers and cookies as FastAPI does.

FastAPI derives the name of a parameter, and whether it may be a list, for each request. Here this is done once for the
common kinds of parameters; FastAPI's own function reads all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_params_to_args
from pydantic import BaseModel, Json
from pydantic.fields import FieldInfo
from starlette.datastructures import QueryParams

Source: TypeAlias = Callable[[Request], Mapping[str, Any]]
Found: TypeAlias = tuple[dict[str, Any], list[Any]]
"""The arguments, and the errors of those that are invalid."""
Reader: TypeAlias = Callable[[Request], Found]


def readers_of(dependant: Dependant) -> tuple[Reader, ...]:
    """Return the functions that read the parameters of a route or dependency, in FastAPI's order."""
    groups: Iterable[tuple[list[Any], Source]] = (
        (dependant.path_params, lambda request: request.path_params),
        (dependant.query_params, lambda request: request.query_params),
        (dependant.header_params, lambda request: request.headers),
        (dependant.cookie_params, lambda request: request.cookies),
    )
    return tuple(_reader(field, source) for fields, source in groups for field in fields)


def _reader(field: Any, source: Source) -> Reader:
    info: FieldInfo = field.field_info
    where = info.in_.value  # type: ignore[attr-defined]  # of FastAPI's own parameters
    if where == "path" and info.annotation is str:
        return _path_reader(field, field.alias)
    if where == "query" and _is_plain_model(info.annotation):
        return _model_reader(field, frozenset(info.annotation.model_fields))  # type: ignore[union-attr]
    if info.default is None and not info.validate_default and isinstance(field.validation_alias or field.alias, str):
        return _optional_reader(field, source)
    return lambda request: request_params_to_args([field], source(request))


def _path_reader(field: Any, alias: str) -> Reader:
    """Return the reader of a string parameter in the path, which every request of the route has."""

    def read(request: Request) -> Found:
        value, errors = field.validate(request.path_params[alias], {}, loc=("path", alias))
        return ({}, errors) if errors else ({field.name: value}, errors)

    return read


def _optional_reader(field: Any, source: Source) -> Reader:
    """Return the reader of an optional parameter, which most requests do not have."""
    alias = field.validation_alias or field.alias
    absent: Found = ({field.name: None}, [])

    def read(request: Request) -> Found:
        values = source(request)
        return request_params_to_args([field], values) if alias in values else absent

    return read


def _model_reader(field: Any, known: frozenset[str]) -> Reader:
    """Return the reader of a model from the query: the last value of each of its fields, and all values of others."""

    def read(request: Request) -> Found:
        values = _query_values(request.query_params, known)
        value, errors = field.validate(values, {}, loc=("query",))
        return ({}, errors) if errors else ({field.name: value}, errors)

    return read


def _query_values(query: QueryParams, known: frozenset[str]) -> dict[str, Any]:
    values: dict[str, Any] = dict(query)
    if len(values) < len(query.multi_items()):
        for name in values.keys() - known:
            several = query.getlist(name)
            values[name] = several if len(several) > 1 else several[0]
    return values


def _is_plain_model(annotation: Any) -> bool:
    """Whether an annotation is a model whose fields are read from the query by name, and are never lists."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return False
    fields = annotation.model_fields.values()
    return all(info.alias is None and info.validation_alias is None and _is_single(info) for info in fields)


def _is_single(info: FieldInfo) -> bool:
    """Whether the value of a field is a single string: neither a list, nor JSON to be parsed."""
    kinds = _kinds(info.annotation)
    is_text = all(
        isinstance(kind, type) and (issubclass(kind, str) or not issubclass(kind, Iterable)) for kind in kinds
    )
    return is_text and not any(type(item) is Json or item is Json for item in info.metadata)


def _kinds(annotation: Any) -> Iterable[Any]:
    """Return the classes that an annotation allows."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [kind for each in get_args(annotation) for kind in _kinds(each)]
    return (origin or annotation,)
