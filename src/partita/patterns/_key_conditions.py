"""Conversion of a query pattern's parameters to its key condition.

| parameters given | sort key condition |
| --- | --- |
| none of the sort key's | begins with the template's literal beginning |
| the first placeholders, as values | begins with them, including the closing separator |
| all placeholders, as values | equals |
| then a `Span` of the next placeholder | between, or one-sided within the beginning |
| then a `Prefix` of the next placeholder | begins with, not closed |

A sort key of several attributes is restricted from the left: each attribute except the last by equality. A derived
part is passed itself, or computed from its fields if these are passed. Without a shard, all shards are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from partita.errors import ModelError
from partita.expressions import KeyCondition, KeyRange
from partita.model import BoundKey, Shards, Template
from partita.patterns._spans import prefix_range, span_range

RangeKind: TypeAlias = Literal["equal", "span", "prefix"]
Conditions: TypeAlias = Callable[[Mapping[str, Any]], tuple[KeyCondition, ...]]
"""Builds the conditions from arguments: one for each partition to read."""

_HOW_TO_SORT = "Use a format that sorts, such as {n:06} or {at:%Y-%m-%d}; free text sorts only as the last part."


class _SortKeyCondition(Struct, frozen=True):
    """The condition on one attribute of a sort key: its first placeholders, the last of them possibly with a range."""

    name: str
    template: Template
    given: int
    last: RangeKind

    @property
    def is_whole(self) -> bool:
        """Whether the condition is equality with a single value."""
        return self.given == len(self.template.fields) and self.last == "equal"

    def range(self, values: Mapping[str, Any]) -> KeyRange | None:
        """Return the requested range of the attribute; None if it is the whole range."""
        arguments = [values[field] for field in self.template.fields[: self.given]]
        if self.last == "span":
            return span_range(self.name, self.template, arguments)
        if self.last == "prefix":
            return prefix_range(self.name, self.template, arguments)
        prefix = self.template.prefix(arguments)
        return KeyRange(self.name, "BEGINS_WITH", (prefix,)) if prefix else None


def key_conditions(label: str, key: BoundKey, parameters: Mapping[str, RangeKind]) -> Conditions:
    """Check that the parameters fit the key, and return the function that builds the conditions from arguments.

    Raises:
        ModelError: the partition key is not covered, a sort key field is skipped, or a range is not last.
    """
    computed = _computed(label, key, parameters)
    is_named = key.shards is not None and key.shards.name in {*parameters, *computed}
    shards = None if is_named else key.shards
    for field in key.hash_fields:
        is_shard = shards is not None and field == shards.name
        if field not in computed and not is_shard and parameters.get(field) != "equal":
            message = f"{label} does not cover the partition key {key.hash_text!r}: {field!r} is missing."
            raise ModelError(message, hint="A query needs all fields of the partition key, each with a single value.")
    conditions = tuple(_sort_key_conditions(label, key, {**parameters, **dict.fromkeys(computed, "equal")}))
    used = {*key.hash_fields, *(field for each in conditions for field in each.template.fields[: each.given])}
    used |= {source for name in computed for source in key.sources_of(name)}
    if skipped := [name for name in parameters if name not in used]:
        message = f"{label}: {', '.join(skipped)} cannot restrict the sort key {key.range_text!r}."
        raise ModelError(message, hint="Use its fields from the left, without a gap; only the last may be a range.")
    return _builder(key, conditions, computed, shards)


def _builder(
    key: BoundKey, conditions: Sequence[_SortKeyCondition], computed: Sequence[str], shards: Shards | None
) -> Conditions:
    """Return the function that builds the conditions; everything independent of arguments is computed in advance.

    With `shards`, it builds a condition for each of them.
    """
    whole = tuple((each.name, each.template) for each in conditions if each.is_whole)
    last = conditions[-1] if conditions and not conditions[-1].is_whole else None
    partition = tuple((attribute.name, template) for attribute, template in key.hash)

    def build(arguments: Mapping[str, Any]) -> tuple[KeyCondition, ...]:
        if computed:
            arguments = {**arguments, **{name: key.derived[name].of(arguments) for name in computed}}
        span = None if last is None else last.range(arguments)
        if shards is None:
            return (KeyCondition(_rendered((*partition, *whole), arguments), span),)
        each = ({**arguments, shards.name: number} for number in range(shards.count))
        return tuple(KeyCondition(_rendered((*partition, *whole), values), span) for values in each)

    return build


def _rendered(attributes: Sequence[tuple[str, Template]], values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        [(name, template.render([values[field] for field in template.fields])) for name, template in attributes]
    )


def _computed(label: str, key: BoundKey, parameters: Mapping[str, RangeKind]) -> tuple[str, ...]:
    """Return the derived parts that can be computed from the parameters."""
    found = [n for n in key.derived if all(parameters.get(source) == "equal" for source in key.sources_of(n))]
    for name in found:
        if name in parameters:
            message = f"{label}: {name!r} is computed from the parameters {', '.join(key.sources_of(name))}."
            raise ModelError(message, hint=f"Remove {name!r}.")
    return tuple(found)


def _sort_key_conditions(label: str, key: BoundKey, parameters: Mapping[str, RangeKind]) -> Iterator[_SortKeyCondition]:
    for attribute, template in key.range:
        given = _leading(template, parameters)
        last = parameters.get(template.fields[given - 1], "equal") if given else "equal"
        if last == "span" and not key.sorts(template, given - 1):
            field = template.fields[given - 1]
            message = f"{label}: {field!r} does not sort in {template.text!r}, so it cannot be a range."
            raise ModelError(message, hint=_HOW_TO_SORT)
        condition = _SortKeyCondition(attribute.name, template, given, last)
        yield condition
        if not condition.is_whole:
            return


def _leading(template: Template, parameters: Mapping[str, RangeKind]) -> int:
    """Return how many placeholders are passed, from the left; a range ends them."""
    given = 0
    for field in template.fields:
        if field not in parameters:
            break
        given += 1
        if parameters[field] != "equal":
            break
    return given
