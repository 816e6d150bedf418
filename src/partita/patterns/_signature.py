"""The parameters of a pattern, from a function's signature or a key's fields, checked against the key."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any, Final, get_args, get_origin

from msgspec import Struct

from partita.errors import ModelError, OperationError
from partita.model import BoundKey, EntitySchema, Prefix, Span, kinds_of
from partita.patterns._key_conditions import RangeKind
from partita.patterns._permissions import hints_of
from partita.values import Item


class PatternSignature(Struct, frozen=True):
    """The name of a pattern, its documentation, and its parameters with their types."""

    name: str
    doc: str
    signature: inspect.Signature
    hints: Mapping[str, Any]

    @classmethod
    def of_function(cls, function: Callable[..., Any]) -> PatternSignature:
        """Return the signature of a decorated function."""
        signature, hints = inspect.signature(function), hints_of(function)
        typed = {name: hints.get(name) for name in signature.parameters}
        return cls(function.__name__, inspect.getdoc(function) or "", signature, typed)

    @classmethod
    def of_fields(cls, name: str, doc: str, schema: EntitySchema[Any], fields: Sequence[str]) -> PatternSignature:
        """Return the signature of a pattern without a function, whose parameters are fields of an entity.

        Raises:
            ModelError: the entity does not have one of the fields.
        """
        annotations = schema.annotations
        for field in fields:
            if field not in annotations:
                raise ModelError(f"{name}: {schema.name} has no field {field!r}.", owner=name)
        hints = {field: annotations[field] for field in fields}
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(field, kind, annotation=hint) for field, hint in hints.items()]
        return cls(name, doc, inspect.Signature(parameters), hints)

    def renamed(self, names: Mapping[str, str]) -> PatternSignature:
        """Return the signature with some of the parameters, under other names."""
        return PatternSignature(self.name, self.doc, self.signature, {own: self.hints[n] for n, own in names.items()})

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of a call by name, with defaults for those that were not passed.

        Raises:
            TypeError: there are too few or too many arguments.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}({', '.join(self.signature.parameters)}): {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def sign(self, make: Callable[..., Any]) -> None:
        """Set this name, documentation and signature on a generated function."""
        make.__name__ = make.__qualname__ = self.name
        make.__doc__ = self.doc
        make.__annotations__ = dict(self.hints)
        make.__signature__ = self.signature  # type: ignore[attr-defined]


_NOTHING: Final = frozenset(("RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP", "POP_TOP", "CACHE"))


def check_empty(function: Callable[..., Any]) -> None:
    """Check that a function is empty, because it is never called: the behaviour of a read is derived from its key.

    Raises:
        ModelError: the function has a body, or is a coroutine.
    """
    name = function.__name__
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ModelError(f"{name} is async.", owner=name, hint="Write def; AsyncSession awaits its operation.")
    if any(instruction.opname not in _NOTHING for instruction in dis.get_instructions(function)):
        message = f"{name} has a body, which would never run."
        raise ModelError(message, owner=name, hint="Keep only its docstring; use @pattern for a function with a body.")


def check_makes_one(function: Callable[..., Any]) -> None:
    """Check that a function returns its operation when it is called, and does not run several.

    Raises:
        ModelError: the function is a coroutine or a generator.
    """
    name = function.__name__
    if inspect.iscoroutinefunction(function):
        raise ModelError(f"{name} is async.", owner=name, hint="Write def; AsyncSession awaits its operation.")
    if inspect.isgeneratorfunction(function):
        hint = "Run a procedure without @pattern, and declare each of its operations."
        raise ModelError(f"{name} is a procedure, and a pattern builds one operation.", owner=name, hint=hint)


class KeyParameters:
    """The parameters of a pattern, checked to be fields of a key."""

    def __init__(self, declared: PatternSignature, schema: EntitySchema[Any], key: BoundKey) -> None:
        self._declared = declared
        self.label = declared.name
        self.names = tuple(declared.hints)
        self.hints = declared.hints
        self.key = key
        self._enums = tuple(
            (name, kind) for name in self.names for kind in kinds_of(self.hints[name]) if _is_enum(kind)
        )
        self._ranges = tuple(
            (name, kind) for name, hint in self.hints.items() if (kind := get_origin(hint)) in (Span, Prefix)
        )
        self._dates = tuple(name for name, hint in self.hints.items() if date in kinds_of(_asked(hint)))
        is_plain = self.names == key.inputs and not self._enums and not self._dates
        self.in_order = len(self.names) if is_plain else -1
        """The number of positional arguments that are the key's fields unconverted; -1 if they must be checked."""
        for name in self.names:
            self._check(name, schema, key)

    def _check(self, name: str, schema: EntitySchema[Any], key: BoundKey) -> None:
        known = tuple(dict.fromkeys((*key.fields, *key.inputs)))
        if name not in known:
            message = f"{self.label}: {name!r} is not a field of {schema.name}.{key.name}."
            raise ModelError(message, owner=self.label, hint=f"Its fields are: {', '.join(known)}.")
        hint = self.hints[name]
        declared = schema.annotations[name]
        if hint is None:
            message = f"{self.label}: {name!r} has no type. Annotate it with the type of the field: {declared}."
            raise ModelError(message, owner=self.label)
        asked = _asked(hint)
        if get_origin(hint) is Prefix and not all(issubclass(kind, str) for kind in kinds_of(declared)):
            raise ModelError(f"{self.label}: {name!r} is not text, so it cannot be a Prefix.", owner=self.label)
        if kinds_of(asked) != kinds_of(declared):
            message = f"{self.label}: {name!r} is declared as {asked}, but the field is {declared}."
            raise ModelError(message, owner=self.label)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments by name."""
        if not kwargs and len(args) == len(self.names):
            arguments: Mapping[str, Any] = dict(zip(self.names, args))  # noqa: B905 - the lengths were just compared
        else:
            arguments = self._declared.arguments(args, kwargs)
        self.check_members(arguments)
        return arguments

    def check_members(self, arguments: Mapping[str, Any]) -> None:
        """Raise if an argument has another type than its parameter, and could still be written into a key."""
        for name, kind in self._enums:
            self._check_member(kind, arguments[name])
        for name, kind in self._ranges:
            self._check_range(name, kind, arguments[name])
        for name in self._dates:
            self._check_date(name, arguments[name])

    def _check_member(self, kind: type[Enum], value: Any) -> None:
        if isinstance(value, kind) or value in {member.value for member in kind}:
            return
        hint = f"Use one of: {', '.join(str(member.value) for member in kind)}."
        raise OperationError(f"{self.label}: {value!r:.60} is not a {kind.__name__}.", hint=hint)

    def _check_range(self, name: str, kind: Any, value: Any) -> None:
        if isinstance(value, kind) and isinstance(getattr(value, "text", ""), str):
            return
        hint = "Write Span.since(low), Span.until(high) or Span.between(low, high)."
        if kind is Prefix:
            hint = 'Write Prefix("text").'
        raise OperationError(f"{self.label}: {name!r} is a {kind.__name__}, not {value!r:.60}.", hint=hint)

    def _check_date(self, name: str, value: Any) -> None:
        """Refuse an instant for a date: it is a date for type checkers, but is written differently in a key."""
        for each in (value.low, value.high) if isinstance(value, Span) else (value,):
            if isinstance(each, datetime):
                message = f"{self.label}: {name!r} is a date, and {each!r} is an instant."
                raise OperationError(message, hint="Pass the date of the instant: instant.date().")

    def ordered(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the arguments in the order of the fields from which the key is built."""
        bound = self.bind(args, kwargs)
        return tuple(bound[field] for field in self.key.inputs)

    def key_renderer(self) -> Callable[[tuple[Any, ...]], Item]:
        """Return a function that renders the key attributes from values in the order of the key's inputs."""
        key = self.key
        attributes = [
            (attribute.name, template.renderer([key.fields.index(field) for field in template.fields]))
            for attribute, template in key.attributes
        ]
        if not key.derived and len(attributes) == 2:  # noqa: PLR2004 - most keys have a hash and a range
            (hash_, render_hash), (range_, render_range) = attributes
            return lambda values: {hash_: render_hash(values), range_: render_range(values)}
        if not key.derived:
            return lambda values: {name: render(values) for name, render in attributes}

        def derive(values: tuple[Any, ...]) -> Item:
            parts = key.parts_from(dict(zip(key.inputs, values, strict=True)))
            return {name: render(parts) for name, render in attributes}

        return derive

    def refuse_ranges(self) -> None:
        """Check that every parameter is a single value."""
        for name in self.names:
            if self.range_kind(name) != "equal":
                raise ModelError(f"{self.label}: {name!r} must be one value, not a range.", hint="Declare a @query.")

    def range_kind(self, name: str) -> RangeKind:
        """Return how a parameter restricts its field: by equality, a span or a prefix."""
        origin = get_origin(self.hints[name])
        return "span" if origin is Span else "prefix" if origin is Prefix else "equal"


def _asked(hint: Any) -> Any:
    """Return the type of one value of a parameter, which may be a range of such values."""
    return get_args(hint)[0] if get_origin(hint) in (Span, Prefix) else hint


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)
