"""The shape of a new entity: an optional owner, fields, indexes, and whether it is versioned."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.scaffold._names import Name, field_name

TYPES: Final = {"str": "Text", "int": "Count", "bool": "Flag", "date": "Day"}
"""The types that a field may have, each with its annotation."""
IN_INDEXES: Final = ("str", "date")
"""The types of fields that can be indexed."""


class FieldShape(Struct, frozen=True):
    """A field: its name and type."""

    name: str
    type: str = "str"

    @classmethod
    def parse(cls, text: str, allowed: tuple[str, ...] = tuple(TYPES)) -> FieldShape:
        """Read `status` or `due_date:date`.

        Raises:
            ValueError: the name or the type cannot be used.
        """
        name, _, kind = text.partition(":")
        if (kind or "str") not in allowed:
            raise ValueError(f"{text!r}: the type must be one of {', '.join(allowed)}.")
        return cls(field_name(name), kind or "str")

    @property
    def annotation(self) -> str:
        """Its annotation in the class."""
        return TYPES[self.type]

    def sample(self, number: int) -> str:
        """The nth sample value, as Python code."""
        return f"date(2026, 1, {number})" if self.type == "date" else self.json(number)

    def json(self, number: int) -> str:
        """The nth sample value in its JSON form, as Python code."""
        if self.type == "date":
            return f'"2026-01-{number:02}"'
        if self.type == "bool":
            return str(bool(number % 2))
        return str(number) if self.type == "int" else f'"{self.name.replace("_", " ")} {number}"'


class Shape(Struct, frozen=True):
    """The complete description of a new entity."""

    name: Name
    owner: str | None = None
    """The field that identifies the owner; the entities of one owner share a partition."""
    indexes: tuple[FieldShape, ...] = ()
    fields: tuple[FieldShape, ...] = (FieldShape("title"),)
    versioned: bool = False

    def check(self) -> None:
        """Refuse invalid combinations.

        Raises:
            ValueError: a name is used twice.
        """
        keys = [f"by_{field.name}" for field in self.indexes]
        names = [self.owner, self.name.id, *keys, *(field.name for field in self.all_fields)]
        if twice := sorted({name for name in names if name and names.count(name) > 1}):
            raise ValueError(f"Each name can be used only once: {', '.join(twice)}.")

    @property
    def all_fields(self) -> tuple[FieldShape, ...]:
        """The fields that the user gave: those of indexes and the others."""
        return (*self.fields, *self.indexes)


class IndexShape(FieldShape, frozen=True, kw_only=True):
    """An index by one field of an entity, with its names and texts in generated code."""

    entity: Name
    owner: str | None

    @property
    def ranged(self) -> bool:
        """Whether a range of values can be queried: of dates, within the partition of an owner."""
        return self.type == "date" and self.owner is not None

    @property
    def index(self) -> str:
        """The name of the index of a versioned table."""
        return f"by-{self.name.replace('_', '-')}"

    @property
    def hash(self) -> str:
        """The field that is the partition key, if keys are plain fields."""
        return self.owner or self.name

    @property
    def range(self) -> str:
        """The field that is the sort key, if keys are plain fields."""
        return self.name if self.owner else self.entity.id

    @property
    def key(self) -> str:
        """The templates of the key, if keys are composed."""
        place, own = f"{self.name.upper()}#{{{self.name}}}", f"{{{self.entity.id}}}"
        if self.owner is None:
            return f'"{place}", "{literal(self.entity.snake)}#{own}"'
        return f'"{literal(self.owner)}#{{{self.owner}}}", "{place}#{own}"'

    @property
    def pattern(self) -> str:
        """The name of the access pattern."""
        return f"{self.entity.plural}_{'by' if self.ranged else 'with'}_{self.name}"

    @property
    def parameter(self) -> str:
        """The type of the pattern's parameter."""
        return f"Span[{self.type}]" if self.ranged else self.type

    @property
    def argument(self) -> str:
        """The argument with which a test finds the first sample."""
        return f"Span.until({self.sample(1)})" if self.ranged else self.sample(1)

    @property
    def query(self) -> str:
        """The parameter of the route."""
        return "since" if self.ranged else self.name

    @property
    def from_query(self) -> str:
        """The argument of the pattern, built from the route's parameter."""
        return "Span.since(since)" if self.ranged else self.name

    @property
    def path(self) -> str:
        """The last part of the route."""
        return self.pattern.removeprefix(f"{self.entity.plural}_").replace("_", "-")

    @property
    def cls(self) -> str:
        """The first part of the name of the class with the route's parameters."""
        return "".join(word.capitalize() for word in self.pattern.split("_"))

    @property
    def says(self) -> str:
        """The description of the pattern's result."""
        whose = "" if self.owner is None else f"a {literal(self.owner).lower()}'s "
        words = self.name.replace("_", " ")
        return f"{whose}{self.entity.words_plural} " + (
            f"by {words}, earliest first" if self.ranged else f"of one {words}"
        )


def literal(name: str) -> str:
    """The literal prefix of a key that contains this identifier."""
    return name.removesuffix("_id").upper()
