"""Comparing two JSON Schemas of one entity: whether every item that fits the old one can be read with the new one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

Json = dict[str, Any]

_ANNOTATIONS: Final = frozenset(("title", "description", "examples", "deprecated"))
_SCHEMAS_BY_NAME: Final = frozenset(("properties", "$defs"))
_VALUES: Final = frozenset(("default", "const", "enum"))
_LEAST: Final = frozenset(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"))
_MOST: Final = frozenset(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"))
_COMPARED_APART: Final = frozenset(
    ("type", "anyOf", "enum", "const", "default", "properties", "required", "items", "additionalProperties")
)
_STORED_AS_OTHERS: Final = frozenset(("binary", "duration"))
"""Formats of JSON strings that are stored as another type: bytes as binary, a duration as a number."""
_COMPUTED: Final = object()
"""The default of a field with a factory, which the schema does not show."""


class SchemaDifference(Struct, frozen=True):
    """One change of a schema. It is breaking if a stored item may be unreadable, or be read differently."""

    where: str
    what: str
    breaking: bool

    def __str__(self) -> str:
        return f"{'breaking' if self.breaking else 'compatible'}: {self.where} {self.what}"


def bare(schema: Json) -> Json:
    """A schema without the annotations that do not affect stored items: titles, descriptions, examples."""
    shown: Json = {}
    for keyword, value in schema.items():
        if keyword in _SCHEMAS_BY_NAME:
            shown[keyword] = {name: bare(member) for name, member in value.items()}
        elif keyword == "required":
            shown[keyword] = sorted(value)
        elif keyword in _VALUES:
            shown[keyword] = value
        elif keyword not in _ANNOTATIONS:
            shown[keyword] = _bare_value(value)
    return shown


def _bare_value(value: Any) -> Any:
    if isinstance(value, dict):
        return bare(value)
    return [_bare_value(member) for member in value] if isinstance(value, list) else value


def differences(old: Json, new: Json) -> tuple[SchemaDifference, ...]:
    """The differences between two schemas of an entity, in the order of their fields."""
    return tuple(_between_objects(_inlined(old, old), _inlined(new, new), ""))


def _inlined(schema: Any, root: Json, inside: tuple[str, ...] = ()) -> Any:
    """A schema with each reference replaced by its target, except for a model that contains itself."""
    if isinstance(schema, list):
        return [_inlined(member, root, inside) for member in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name and name not in inside:
        others = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        return _inlined(root["$defs"][name], root, (*inside, name)) | others
    return {
        keyword: value if keyword in _VALUES else _inlined(value, root, inside)
        for keyword, value in schema.items()
        if keyword != "$defs"
    }


def _between_objects(old: Json, new: Json, prefix: str) -> Iterator[SchemaDifference]:
    before, after = old.get("properties", {}), new.get("properties", {})
    required = set(new.get("required", ()))
    for name in before.keys() - after.keys():
        yield SchemaDifference(f"{prefix}{name}", _removal(before[name], name, before, after), breaking=True)
    for name in sorted(after.keys() - before.keys()):
        how = "was added without a default" if name in required else f"was added, {_text(after[name])}"
        yield SchemaDifference(f"{prefix}{name}", how, breaking=name in required)
    for name in [name for name in before if name in after]:
        was_required = name in old.get("required", ())
        if name in required and not was_required:
            yield SchemaDifference(f"{prefix}{name}", "no longer has a default", breaking=True)
        was, now = before[name].get("default", _COMPUTED), after[name].get("default", _COMPUTED)
        if name not in required and not was_required and was != now:
            change = f"from {_text(was)} to {_text(now)}"
            yield SchemaDifference(f"{prefix}{name}", f"changed its default {change}", breaking=True)
        if was_required and name not in required:
            yield SchemaDifference(f"{prefix}{name}", "was given a default", breaking=False)
        yield from _between_values(before[name], after[name], f"{prefix}{name}")


def _removal(schema: Json, name: str, before: Json, after: Json) -> str:
    alike = [other for other, shape in after.items() if other not in before and _same(shape, schema)]
    return f"was removed (renamed to {alike[0]}?)" if alike and name not in after else "was removed"


def _between_values(old: Json, new: Json, where: str) -> Iterator[SchemaDifference]:
    if "properties" in old and "properties" in new:
        yield from _between_objects(old, new, f"{where}.")
    elif not _same(old, new):
        kept = _accepts(new, old)
        how = "was widened" if kept else "was changed"
        yield SchemaDifference(where, f"{how} from {_text(old)} to {_text(new)}", breaking=not kept)


def _same(one: Json, other: Json) -> bool:
    return one | {"default": None} == other | {"default": None}


def _accepts(new: Json, old: Json) -> bool:
    """Whether every value that fits the old schema fits the new one; False if that is uncertain."""
    if "anyOf" in old:
        return all(_accepts(new, alternative) for alternative in old["anyOf"])
    if "anyOf" in new:
        return any(_accepts(alternative, old) for alternative in new["anyOf"])
    return (
        _accepts_type(new, old)
        and _accepts_options(new, old)
        and _accepts_members(new, old)
        and all(_accepts_limit(keyword, new, old) for keyword in new.keys() - _COMPARED_APART)
    )


def _accepts_type(new: Json, old: Json) -> bool:
    wanted = new.get("type")
    if wanted is not None and _STORED_AS_OTHERS & {old.get("format")} != _STORED_AS_OTHERS & {new.get("format")}:
        return False
    return wanted is None or old.get("type") == wanted or (wanted == "number" and old.get("type") == "integer")


def _accepts_options(new: Json, old: Json) -> bool:
    options = _options(new)
    return options is None or (_options(old) is not None and all(option in options for option in _options(old) or ()))


def _options(schema: Json) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _accepts_members(new: Json, old: Json) -> bool:
    if "properties" in new and "properties" not in old:
        return False  # a model does not keep all names of a map
    if "properties" in old:
        return not any(difference.breaking for difference in _between_objects(old, new, ""))
    return all(
        _accepts(new[keyword], old.get(keyword, {}))
        for keyword in ("items", "additionalProperties")
        if isinstance(new.get(keyword), dict)
    )


def _accepts_limit(keyword: str, new: Json, old: Json) -> bool:
    if keyword not in old:
        return False
    if keyword in _LEAST:
        return bool(old[keyword] >= new[keyword])
    if keyword in _MOST:
        return bool(old[keyword] <= new[keyword])
    return bool(old[keyword] == new[keyword])


def _text(value: Any) -> str:
    if value is _COMPUTED:
        return "a computed value"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:99]}…"  # noqa: PLR2004 - one line of a message
