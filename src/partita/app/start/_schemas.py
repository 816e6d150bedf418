"""A schema of an OpenAPI description in words, and as an example."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

Schema = Mapping[str, Any]

MAX_DEPTH: Final = 5
"""Schemas that are nested more deeply are named but not expanded, because a schema may contain itself."""
MAX_PATTERN: Final = 60
_BOUNDS: Final = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
_OTHER_BOUNDS: Final = (("exclusiveMinimum", "above"), ("exclusiveMaximum", "below"), ("multipleOf", "a multiple of"))
_TEXTS: Final = {
    "date": "2026-12-24",
    "date-time": "2026-12-24T18:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "ann@example.com",
    "uri": "https://example.com/",
}


class FieldRow(Struct, frozen=True):
    """One field of an object, or one parameter."""

    name: str
    kind: str
    """The type in words."""
    is_required: bool
    about: str
    rules: tuple[str, ...] = ()
    inner: tuple[FieldRow, ...] = ()
    """The fields of the object or objects that it contains."""


class Schemas:
    """Reads the schemas of one description."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._description = description

    def resolved(self, part: Any) -> Schema:
        """Return a part of the description, after following references."""
        seen = 0
        while isinstance(part, Mapping) and isinstance(part.get("$ref"), str) and seen < MAX_DEPTH:
            found: Any = self._description
            for name in part["$ref"].removeprefix("#/").split("/"):
                found = found.get(name.replace("~1", "/").replace("~0", "~"), {}) if isinstance(found, Mapping) else {}
            part, seen = found, seen + 1
        return part if isinstance(part, Mapping) else {}

    def kind(self, schema: Schema) -> str:
        """Return the type in words, such as `list of Task`."""
        options = _options(schema)
        if options:
            kinds = list(dict.fromkeys(self.kind(each) for each in options))
            return " or ".join(kinds)
        if schema.get("allOf"):
            return " and ".join(self.kind(each) for each in schema["allOf"])
        if "$ref" in schema:
            target = self.resolved(schema)
            return self.kind(target) if "enum" in target else str(schema["$ref"]).rpartition("/")[2]
        if "const" in schema:
            return repr(schema["const"])
        if "enum" in schema:
            return "one of " + ", ".join(map(str, schema["enum"]))
        return self._kind_of_type(schema)

    def _kind_of_type(self, schema: Schema) -> str:
        named = schema.get("type", "any value")
        if isinstance(named, list):
            return " or ".join(map(str, named))
        if named == "array":
            return f"list of {self.kind(schema.get('items') or {})}"
        if named == "object":
            values = schema.get("additionalProperties")
            return f"map to {self.kind(values)}" if isinstance(values, Mapping) else str(schema.get("title", "object"))
        return str(schema.get("format", named)) if named == "string" else str(named)

    def field(self, name: str, schema: Schema, *, is_required: bool, about: str = "", depth: int = 0) -> FieldRow:
        """Return one field with everything that its schema says."""
        own = self.resolved(schema)
        said = about or str(schema.get("description") or own.get("description") or "")
        kind = self.kind(schema) if is_required else self.kind(schema).removesuffix(" or null")
        return FieldRow(name, kind, is_required, said, tuple(self._rules(schema)), self.fields(schema, depth + 1))

    def fields(self, schema: Schema, depth: int = 0) -> tuple[FieldRow, ...]:
        """Return the fields of an object schema, or of the objects in a list."""
        if depth > MAX_DEPTH:
            return ()
        found: dict[str, FieldRow] = {}
        for each in self._objects(schema):
            required = each.get("required") or ()
            for name, inner in (each.get("properties") or {}).items():
                found.setdefault(name, self.field(name, inner, is_required=name in required, depth=depth))
        return tuple(found.values())

    def _objects(self, schema: Schema, depth: int = 0) -> Iterator[Schema]:
        own = self.resolved(schema)
        if depth > MAX_DEPTH:
            return
        if own.get("properties"):
            yield own
        inner = [*_options(own), *(own.get("allOf") or ()), own.get("items"), own.get("additionalProperties")]
        for each in inner:
            if isinstance(each, Mapping):
                yield from self._objects(each, depth + 1)

    def _rules(self, schema: Schema) -> Iterator[str]:
        """Yield the constraints of a value, and its default."""
        own = self.resolved(schema)
        for each in (own, *(self.resolved(option) for option in _options(own))):
            yield from filter(None, (_bounds(each, *bound) for bound in _BOUNDS))
            yield from (f"{text} {_figure(each[key])}" for key, text in _OTHER_BOUNDS if key in each)
            pattern = str(each.get("pattern", ""))
            if 0 < len(pattern) <= MAX_PATTERN:
                yield f"matches `{pattern}`"
            if "enum" not in each and each.get("examples"):
                yield f"such as `{_plain(each['examples'][0])}`"
        default = schema.get("default", own.get("default"))
        if default is not None:
            yield f"default `{_plain(default)}`"

    def example(self, schema: Schema, depth: int = 0) -> Any:
        """Return an example value for a schema."""
        own = self.resolved(schema)
        given = next((each for each in (schema, own) if _given(each) is not None), None)
        if given is not None:
            return _given(given)
        if depth > MAX_DEPTH:
            return None
        options = [each for each in _options(own) if each.get("type") != "null"]
        if options:
            return self.example(options[0], depth + 1)
        if own.get("allOf"):
            parts = [self.example(each, depth + 1) for each in own["allOf"]]
            return {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}
        return self._example_of_type(own, depth)

    def _example_of_type(self, own: Schema, depth: int) -> Any:
        kind = own.get("type")
        if kind == "array":
            return [self.example(own.get("items") or {}, depth + 1)]
        if kind == "object" or "properties" in own:
            properties = own.get("properties") or {}
            return {name: self.example(each, depth + 1) for name, each in properties.items()}
        if kind in ("integer", "number"):
            return own.get("minimum", 1)
        if kind == "boolean":
            return True
        return None if kind == "null" else _TEXTS.get(str(own.get("format")), "text")


def _options(schema: Schema) -> list[Schema]:
    return [each for each in (schema.get("anyOf") or schema.get("oneOf") or ()) if isinstance(each, Mapping)]


def _bounds(schema: Schema, least: str, most: str, what: str) -> str:
    """Two bounds in words, such as `1 to 60 characters`."""
    low, high = (_figure(schema.get(key)) for key in (least, most))
    if low is not None and high is not None:
        return f"{low} to {high}{what}"
    if low is not None:
        return f"at least {low}{what}"
    return "" if high is None else f"at most {high}{what}"


def _figure(value: Any) -> Any:
    """A bound as people write it: `1`, not `1.0`."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(value: Any) -> str:
    """A value between backticks: a text with line breaks, with backticks or without characters needs quotes."""
    if isinstance(value, str) and value and not {"\n", "`"} & set(value):
        return value
    return json.dumps(value, default=str, ensure_ascii=False).replace("`", "\\u0060")


def _given(schema: Schema) -> Any:
    """The example that a schema itself contains."""
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    if "example" in schema:
        return schema["example"]
    if "const" in schema:
        return schema["const"]
    if schema.get("default") is not None:
        return schema["default"]
    values = schema.get("enum")
    return values[0] if values else None
