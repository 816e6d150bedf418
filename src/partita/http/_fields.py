"""Lists with selectable fields: `?fields=title,status` reads and returns only these fields of each item."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any, Final, Generic, Self, TypeVar, get_args

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, create_model
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from partita import Page, Query, f
from partita.http._paging import Paging
from partita.model import PartialItem

M = TypeVar("M", bound=BaseModel)

_IN_EXAMPLE: Final = 2
"""How many fields the example in the OpenAPI description names."""


def _absent() -> None:
    """The default of a field that was not given."""


def _known_fields(model: Any) -> tuple[str, ...]:
    """The names of the fields that can be requested; none if the class is still generic."""
    return () if isinstance(model, TypeVar) else tuple(_fields_of(model))


class Partial(Generic[M]):
    """The type of an item in a list with selectable fields: an `M`, or some of its fields."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (model,) = get_args(source)
        if isinstance(model, TypeVar):
            return core_schema.any_schema()
        # The schema is that of the model with all fields optional; the value itself is passed through unchanged.
        return core_schema.no_info_wrap_validator_function(
            lambda shown, _: shown,
            handler.generate_schema(_partial_of(model)),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda shown: shown),
        )


class Fields(Generic[M]):
    """The fields of each item that a caller requested, by their names in the response; or all of them."""

    __slots__ = ("model", "names")

    def __init__(self, model: type[M], names: tuple[str, ...] | None = None) -> None:
        """Select fields of a response's items.

        Args:
            model: the type of a whole item of the response.
            names: the fields that were requested; None for all.
        """
        self.model = model
        self.names = names

    def narrow(self, query: Query[Any], *, computed: Collection[str] = ()) -> Query[Any]:
        """Return a query that reads only these fields, or the same query if a field is not stored under its name.

        Args:
            query: the query, which reads whole entities.
            computed: fields of the response that are computed, although an attribute has the same name.
        """
        fields = query.schema.fields
        is_stored = all(name in fields and name not in computed for name in self.names or ())
        if self.names is None or not is_stored or query.model is not query.schema.cls:
            return query
        return query.only(*(f(getattr(query.schema.cls, fields[name])) for name in self.names))

    def show(self, items: Iterable[Any], view: Callable[[Any], M] | None = None) -> tuple[Any, ...]:
        """Return the items of the response.

        Args:
            items: the result of a query, narrowed or not.
            view: turns a whole item into its response, if the response is not the entity itself.
        """
        if self.names is None:
            return tuple(items if view is None else map(view, items))
        return tuple(self._picked(self._whole(item, view)) for item in items)

    def _whole(self, item: Any, view: Callable[[Any], M] | None) -> BaseModel:
        if isinstance(item, PartialItem):
            return self._filled(item)
        return item if view is None else view(item)

    def _filled(self, item: PartialItem) -> BaseModel:
        """The response item for an entity of which only some fields were read."""
        read = {field.alias or name: name for name, field in type(item).model_fields.items()}
        fields = _fields_of(self.model)
        return self.model.model_construct(**{fields[name]: getattr(item, read[name]) for name in self.names or ()})

    def _picked(self, item: BaseModel) -> dict[str, Any]:
        fields = _fields_of(self.model)
        return item.model_dump(mode="json", by_alias=True, include={fields[name] for name in self.names or ()})

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (model,) = get_args(source)
        known = _known_fields(model)
        return core_schema.no_info_plain_validator_function(
            lambda value: cls._parsed(model, value), metadata={"partita_fields": known}
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        metadata: dict[str, Any] = schema.get("metadata") or {}
        known: tuple[str, ...] = metadata["partita_fields"]
        one = "|".join(known)
        return {"type": "string", "pattern": f"^({one})(,({one}))*$", "examples": [",".join(known[:_IN_EXAMPLE])]}

    @classmethod
    def _parsed(cls, model: type[M], value: Any) -> Self:
        if value is None:
            return cls(model)
        known, asked = _fields_of(model), str(value).split(",")
        if unknown := [name for name in asked if name not in known]:
            said = {"unknown": repr(unknown[0]), "known": ", ".join(known)}
            raise PydanticCustomError("unknown_field", "there is no field {unknown}; the fields are: {known}", said)
        return cls(model, tuple(name for name in known if name in asked))


class FieldPaging(Paging, Generic[M]):
    """The query parameters of a list with selectable fields."""

    fields: Fields[M] = Field(
        default_factory=_absent,
        validate_default=True,
        description="comma-separated names of the fields to return of each item; default: all fields",
    )


class PartialListing(BaseModel, Generic[M]):
    """One page of a list with selectable fields. `next_cursor` is null on the last page."""

    items: tuple[Partial[M], ...]
    next_cursor: str | None

    @classmethod
    def of(cls, page: Page[Any], fields: Fields[M], view: Callable[[Any], M] | None = None) -> Self:
        """The response for a page; see `Fields.show`."""
        return cls(items=fields.show(page.items, view), next_cursor=page.next_cursor)


@cache
def _fields_of(model: type[BaseModel]) -> dict[str, str]:
    """The fields of a model by their names in JSON, in order."""
    return {
        str(field.serialization_alias or field.alias or name): name
        for name, field in model.model_fields.items()
        if not field.exclude
    }


@cache
def _partial_of(model: type[BaseModel]) -> type[BaseModel]:
    """A copy of a model in which every field is optional, for the OpenAPI description."""
    fields: dict[str, Any] = {
        name: (
            field.rebuild_annotation(),
            Field(
                default_factory=_absent,
                serialization_alias=field.serialization_alias or field.alias,
                description=field.description,
                examples=field.examples,
            ),
        )
        for name, field in model.model_fields.items()
        if not field.exclude
    }
    doc = f"{model.__name__} with only the requested fields."
    return create_model(f"Partial{model.__name__}", __doc__=doc, __module__=model.__module__, **fields)
