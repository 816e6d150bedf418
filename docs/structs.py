"""For the reference: derives the signature of a `msgspec.Struct` from its fields, as for a dataclass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from griffe import Attribute, Class, Extension, Function, Module, Parameter, ParameterKind, Parameters


class Structs(Extension):
    """Adds to each struct the constructor that msgspec adds at run time."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Add the constructors when the whole package is loaded, because only then the fields of bases are known."""
        for found in list(_classes(pkg)):
            if "__init__" not in found.members and _is_struct(found):
                found.set_member("__init__", _constructor(found))


def _classes(owner: Module | Class) -> Iterator[Class]:
    for member in list(owner.members.values()):
        if isinstance(member, Module | Class) and not member.is_alias:
            if isinstance(member, Class):
                yield member
            yield from _classes(member)


def _bases(found: Class) -> list[Class]:
    return [base for base in found.mro() if isinstance(base, Class)] if found.bases else []


def _is_struct(found: Class) -> bool:
    bases = [str(base).partition("[")[0] for each in _lineage(found) for base in each.bases]
    return "Struct" in bases or "msgspec.Struct" in bases


def _lineage(found: Class) -> list[Class]:
    try:
        return [found, *_bases(found)]
    except (ValueError, KeyError):
        return [found]


def _constructor(found: Class) -> Function:
    fields: dict[str, Attribute] = {}
    for each in reversed(_lineage(found)):
        fields |= {name: member for name, member in each.members.items() if _is_field(member)}
    kind = ParameterKind.keyword_only if "kw_only" in found.keywords else ParameterKind.positional_or_keyword
    parameters = [
        Parameter(name, annotation=field.annotation, kind=kind, default=field.value) for name, field in fields.items()
    ]
    first = Parameter("self", kind=ParameterKind.positional_or_keyword)
    return Function("__init__", lineno=0, endlineno=0, parameters=Parameters(first, *parameters), parent=found)


def _is_field(member: object) -> TypeGuard[Attribute]:
    return (
        isinstance(member, Attribute)
        and member.annotation is not None
        and "ClassVar" not in str(member.annotation)
        and "property" not in member.labels
    )
