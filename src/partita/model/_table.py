"""Declarations of tables and indexes, and the registry that other parts of Partita read."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct

from partita.errors import ModelError
from partita.model.keys import DEFAULT_FORMAT, KeyFormat
from partita.store import Distance, IndexSchema, KeyAttribute, KeyType, StreamView, TableSchema, VectorIndexSchema

if TYPE_CHECKING:
    from partita.model._entity import EntitySchema
    from partita.patterns import DeclaredOperation, Pattern

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")
MAX_DIMENSIONS: Final = 4_096
MAX_LOCAL_INDEXES: Final = 5
MAX_KEY_ATTRIBUTES: Final = 4
"""The maximum number of attributes of a global index's partition key, and of its sort key."""

Attribute: TypeAlias = str | tuple[str, KeyType]
"""A key attribute: its name if it is a string, otherwise name and type, as in `("year", "N")`."""

Attributes: TypeAlias = Attribute | list[Attribute]
"""The attributes of a partition or sort key: one, or a list of up to four, as in `["tenant", ("year", "N")]`."""

Projected: TypeAlias = Literal["ALL", "KEYS_ONLY"] | tuple[str, ...]
"""What an index holds: all attributes, only the keys, or the keys and the listed attributes."""


class Index(Struct, frozen=True):
    """A secondary index. By default, its attributes are named after it: GSI1PK and GSI1SK.

    Each part of its key is one attribute, or a list of up to four: `Index("GSI1", ["tenant", "region"], "placed")`. It
    may use attributes of the table's key or of another index.
    """

    name: str
    hash: Attributes | None = None
    range: Attributes | Literal[False] | None = None
    """False: the index has no sort key."""
    projection: Projected = "ALL"

    def schema(self) -> IndexSchema:
        """Return the schema that stores use."""
        owner = f"The index {self.name!r}"
        hash_key = _attributes(owner, f"{self.name}PK" if self.hash is None else self.hash)
        range_key: tuple[KeyAttribute, ...] = ()
        if self.range is not False:
            range_key = _attributes(owner, f"{self.name}SK" if self.range is None else self.range)
        return IndexSchema(self.name, hash_key, range_key, _projected(owner, self.projection))


class LocalIndex(Struct, frozen=True):
    """A local index: another sort order within the table's partitions."""

    name: str
    range: Attribute | None = None
    projection: Projected = "ALL"

    def schema(self, hash_key: KeyAttribute) -> IndexSchema:
        """Return the schema that stores use."""
        owner = f"The index {self.name!r}"
        range_key = _attribute(owner, self.range or f"{self.name}SK")
        return IndexSchema(self.name, (hash_key,), (range_key,), _projected(owner, self.projection), local=True)


class VectorIndex(Struct, frozen=True):
    """A vector index: finds the items most similar to a vector, by their vectors in the attribute `vector`.

    By default, its partition key is named after it, `by-meaningPK`; a `Key("NOTE#{user_id}", index="by-meaning")` puts
    an entity into it. `filters` are attributes that a search can compare with one value each.
    """

    name: str
    vector: str
    dimensions: int
    distance: Distance = "COSINE"
    hash: Attribute | Literal[False] | None = None
    """False: the index has no partition key, and every search covers the whole index."""
    filters: tuple[Attribute, ...] = ()
    projection: Projected = "ALL"

    def schema(self) -> VectorIndexSchema:
        """Return the schema that stores use."""
        owner = f"The vector index {self.name!r}"
        if self.distance not in get_args(Distance):
            hint = f"Use one of {', '.join(get_args(Distance))}."
            raise ModelError(f"{owner}: {self.distance!r} is not a distance.", owner=owner, hint=hint)
        if not 1 <= self.dimensions <= MAX_DIMENSIONS:
            message = f"{owner} has {self.dimensions} dimensions; it may have 1 to {MAX_DIMENSIONS}."
            raise ModelError(message, owner=owner)
        partition = None
        if self.hash is not False:
            partition = _attribute(owner, f"{self.name}PK" if self.hash is None else self.hash)
        filters = tuple(_attribute(owner, each) for each in self.filters)
        projected = _projected(owner, self.projection)
        return VectorIndexSchema(self.name, self.vector, self.dimensions, self.distance, partition, filters, projected)


class TypeTag(Struct, frozen=True):
    """The attribute that identifies the entity of an item, and its value for one entity."""

    attribute: str
    name: str


class Table:
    """A declared table: keys, indexes, TTL attribute and stream, with the entities, patterns and recipes on it."""

    def __init__(  # noqa: PLR0913 - one argument for each property that can be declared
        self,
        name: str,
        *,
        hash: Attribute = "PK",  # noqa: A002 - DynamoDB's own word for it
        range: Attribute | None = "SK",  # noqa: A002
        indexes: Sequence[Index | LocalIndex | VectorIndex] = (),
        ttl: str | None = None,
        stream: StreamView | None = None,
        keys: KeyFormat = DEFAULT_FORMAT,
        type_attribute: str | None = None,
        registry: Registry | None = None,
    ) -> None:
        """Declare a table.

        Args:
            name: the table's name in DynamoDB.
            hash: the attribute of the partition key.
            range: the attribute of the sort key; None if the table has no sort key.
            indexes: secondary indexes and vector indexes.
            ttl: the attribute with the time at which an item expires.
            stream: which images of a changed item its stream contains; None for no stream.
            keys: the format of keys, if another tool has written existing ones.
            type_attribute: the attribute that identifies the entity of an item; without it, the key identifies it.
            registry: the registry to which the table is added.
        """
        self.name = name
        self.module: str = sys._getframe(1).f_globals.get("__name__", "?")  # noqa: SLF001 - the cheapest way
        """The module that declares it."""
        if isinstance(indexes, Index | LocalIndex | VectorIndex):
            hint = f"Pass a list, as in indexes=[{type(indexes).__name__}({indexes.name!r})]."
            raise ModelError(f"{self!r}: {indexes!r} is not a list of indexes.", owner=self, hint=hint)
        self.key_format = keys
        self.type_attribute = type_attribute
        hash_key = _attribute(repr(self), hash)
        self.schema = TableSchema(
            name=name,
            hash=hash_key,
            range=None if range is None else _attribute(repr(self), range),
            indexes=tuple(
                _index_schema(repr(self), index, hash_key) for index in indexes if not isinstance(index, VectorIndex)
            ),
            ttl=ttl,
            stream=_stream_view(repr(self), stream),
            vectors=tuple(index.schema() for index in indexes if isinstance(index, VectorIndex)),
        )
        self.entities: list[EntitySchema[Any]] = []
        self.patterns: dict[str, Pattern] = {}
        self.recipes: dict[str, DeclaredOperation] = {}
        _check_attributes(self)
        (registry or REGISTRY).add(self)

    def __repr__(self) -> str:
        return f"Table({self.name!r})"

    def key_attributes(self, index: str | None) -> tuple[tuple[KeyAttribute, ...], tuple[KeyAttribute, ...]]:
        """Return the attributes of the partition key and the sort key, of the table or of one of its indexes."""
        if index is None:
            return self.schema.key[:1], self.schema.key[1:]
        if (vectors := self.schema.vector(index)) is not None:
            return () if vectors.hash is None else (vectors.hash,), ()
        found = self.schema.index(index)
        if found is None:
            names = ", ".join(self.schema.index_names) or "none"
            raise ModelError(f"{self!r} has no index {index!r}.", owner=self, hint=f"It has: {names}.")
        return found.hash, found.range

    def is_local(self, index: str | None) -> bool:
        """Whether an index is local, so that it shares the table's partition key."""
        found = None if index is None else self.schema.index(index)
        return found is not None and found.local

    def add_entity(self, entity: EntitySchema[Any]) -> None:
        """Register an entity, after checking that its items can be distinguished from those of every other entity."""
        for other in self.entities:
            if other.name == entity.name:
                raise ModelError(f"{self!r} has two entities named {entity.name!r}.", owner=self)
            if entity.tag is not None and other.tag == entity.tag:
                message = f"{entity.name} and {other.name} both have the type {entity.tag.name!r} in {self!r}."
                raise ModelError(message, owner=self, hint='Write class X(Entity, table=TABLE, type_name="…").')
            if entity.tag is None and other.primary.collides(entity.primary):
                raise ModelError(
                    f"{entity.name} and {other.name} could both have the same key in {self!r}: "
                    f"{entity.primary} and {other.primary}.",
                    owner=self,
                    hint="Give their sort keys different literal beginnings, or the table a type_attribute.",
                )
        self.entities.append(entity)

    def claims(self, item: Mapping[str, Any]) -> bool:
        """Whether the item belongs to a declared entity."""
        return any(entity.owns(item) for entity in self.entities)

    def add_pattern(self, pattern: Pattern) -> None:
        """Register an access pattern under its name."""
        if pattern.name in self.patterns:
            hint = "Rename one of them. A recipe declares its patterns: create it once, in a module, and import it."
            raise ModelError(f"{self!r} has two access patterns named {pattern.name!r}.", owner=self, hint=hint)
        self.patterns[pattern.name] = pattern

    def add_recipe(self, operation: DeclaredOperation) -> None:
        """Register an operation that a recipe sends, under the name that is used for metering."""
        self.recipes[operation.name] = operation


class Registry:
    """All declared tables, in order, which docs, console, deploy and cost read."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}

    def add(self, table: Table) -> None:
        """Register a table under its name."""
        if known := self._tables.get(table.name):
            message = f"Two tables are named {table.name!r}: one in {known.module}, one in {table.module}."
            raise ModelError(message, owner=table, hint="Rename one, or give it its own Registry().")
        self._tables[table.name] = table

    def remove(self, table: Table) -> None:
        """Remove a table, such as one of a module whose import failed."""
        del self._tables[table.name]

    def __iter__(self) -> Iterator[Table]:
        return iter(self._tables.values())

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tables


REGISTRY = Registry()
"""The registry to which tables are added by default."""


def _index_schema(owner: str, index: Index | LocalIndex, hash_key: KeyAttribute) -> IndexSchema:
    if isinstance(index, LocalIndex):
        return index.schema(hash_key)
    if isinstance(index, Index):
        return index.schema()
    hint = 'Pass a list of indexes, as in indexes=[Index("GSI1")].'
    raise ModelError(f"{owner}: {index!r} is not an index.", owner=owner, hint=hint)


def _attribute(owner: str, declared: Attribute) -> KeyAttribute:
    match declared:
        case str():
            return KeyAttribute(declared)
        case (str(name), "S" | "N" | "B" as kind):
            return KeyAttribute(name, kind)
    hint = 'Pass its name, or its name and one of "S", "N" and "B", as in ("year", "N").'
    raise ModelError(f"{owner}: {declared!r} is not a key attribute.", owner=owner, hint=hint)


def _attributes(owner: str, declared: Attributes) -> tuple[KeyAttribute, ...]:
    if not isinstance(declared, list):
        return (_attribute(owner, declared),)
    if not 1 <= len(declared) <= MAX_KEY_ATTRIBUTES:
        message = f"{owner}: a partition or sort key has 1 to {MAX_KEY_ATTRIBUTES} attributes, not {len(declared)}."
        raise ModelError(message, owner=owner)
    return tuple(_attribute(owner, each) for each in declared)


def _projected(owner: str, declared: Projected) -> Projected:
    if declared in ("ALL", "KEYS_ONLY"):
        return declared
    if isinstance(declared, list | tuple) and declared and all(isinstance(name, str) for name in declared):
        return tuple(declared)
    hint = 'Use "ALL", "KEYS_ONLY" or the names of attributes, as in ("title", "due").'
    raise ModelError(f"{owner}: {declared!r} is not a projection.", owner=owner, hint=hint)


def _stream_view(owner: str, declared: StreamView | None) -> StreamView | None:
    if declared is None or declared in get_args(StreamView):
        return declared
    hint = f"Use one of {', '.join(get_args(StreamView))}, or None for no stream."
    raise ModelError(f"{owner}: {declared!r} is not a view of a stream.", owner=owner, hint=hint)


def _check_attributes(table: Table) -> None:
    for name in (table.name, *table.schema.index_names):
        if not _NAME.fullmatch(name):
            message = f"{name!r} is not a valid name for a table or index."
            raise ModelError(message, owner=table, hint="Use 3 to 255 of A-Z, a-z, 0-9, _, - and .")
    types: dict[str, KeyType] = {}
    keys = [table.schema.key, *(index.key for index in table.schema.indexes)]
    keys += [index.search for index in table.schema.vectors]
    for attribute in (attribute for key in keys for attribute in key):
        if types.setdefault(attribute.name, attribute.type) != attribute.type:
            raise ModelError(f"{table!r}: the attribute {attribute.name!r} has two types.", owner=table)
    if table.schema.range is not None and table.schema.range.name == table.schema.hash.name:
        raise ModelError(f"{table!r} uses one attribute twice in its key.", owner=table)
    for place, name in enumerate(table.schema.index_names):
        if name in table.schema.index_names[:place]:
            raise ModelError(f"{table!r}: two indexes are named {name!r}.", owner=table)
    for index in table.schema.indexes:
        if len({attribute.name for attribute in index.key}) != len(index.key):
            raise ModelError(f"{table!r}: the index {index.name!r} uses one attribute twice.", owner=table)
    _check_local(table)
    _check_marks(table, types)


def _check_local(table: Table) -> None:
    """Reject local indexes that no store would create."""
    local = [index.name for index in table.schema.indexes if index.local]
    if local and table.schema.range is None:
        message = f"{table!r}: the local index {local[0]!r} needs a table with a sort key."
        raise ModelError(message, owner=table, hint="Declare a sort key, or use Index instead of LocalIndex.")
    if len(local) > MAX_LOCAL_INDEXES:
        message = f"{table!r} has {len(local)} local indexes; it may have {MAX_LOCAL_INDEXES}."
        raise ModelError(message, owner=table, hint="Use Index instead of LocalIndex for the others.")


def _check_marks(table: Table, keys: Collection[str]) -> None:
    """Reject a TTL or type attribute that is also a key attribute."""
    for mark, what in ((table.schema.ttl, "TTL"), (table.type_attribute, "type")):
        if mark in keys:
            raise ModelError(f"{table!r}: the {what} attribute {mark!r} is a key attribute.", owner=table)
