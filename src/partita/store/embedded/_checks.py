"""DynamoDB's rules for the definition of a table."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from partita.errors import ValidationFailed
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema, VectorIndexSchema
from partita.store.embedded._catalog import definition_text
from partita.values import text_size

MAX_GLOBAL: Final = 20
MAX_LOCAL: Final = 5
MAX_KEY_PARTS: Final = 4
MAX_VECTORS: Final = 5
MAX_DIMENSIONS: Final = 4_096
MAX_FILTERS: Final = 18
MAX_NAME_BYTES: Final = 255
MAX_PROJECTED: Final = 100
_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{3,255}", re.ASCII)
_INVALID: Final = "One or more parameter values were invalid: "


def check_readable(schema: TableSchema) -> None:
    """Raise ValidationFailed for a definition that would change when it is stored and loaded.

    A definition that cannot be loaded would prevent the whole file from being opened.
    """
    try:
        is_same = msgspec.json.decode(definition_text(schema), type=TableSchema) == schema
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise ValidationFailed(_INVALID + str(error)) from error
    if not is_same:
        raise ValidationFailed(f"{_INVALID}the definition has a part of a wrong type: {schema!r:.200}")


def check_table(schema: TableSchema) -> None:
    """Raise ValidationFailed for a definition that breaks a rule."""
    _check_name(schema.name, "tableName")
    _check_key(schema.key)
    names = schema.index_names
    for name in names:
        if names.count(name) > 1:
            raise ValidationFailed(f"{_INVALID}Duplicate index name: {name}")
    for index in schema.indexes:
        check_index(schema, index)
    _check_counts(schema)
    _check_vectors(schema)
    _check_types(schema)
    if schema.ttl is not None:
        check_name_length(schema.ttl)


def check_index(schema: TableSchema, index: IndexSchema) -> None:
    """Raise ValidationFailed for an index that breaks a rule."""
    _check_name(index.name, "indexName")
    _check_key(index.key)
    if index.local:
        _check_local(schema, index)
    elif not 1 <= len(index.hash) <= MAX_KEY_PARTS or len(index.range) > MAX_KEY_PARTS:
        message = f"a global index has 1 to {MAX_KEY_PARTS} HASH and at most {MAX_KEY_PARTS} RANGE attributes"
        raise ValidationFailed(f"{_INVALID}{message}: {index.name}")
    if isinstance(index.projection, tuple):
        _check_projection(index.projection)


def _check_name(name: str, what: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValidationFailed(
            f"1 validation error detected: Value '{name}' at '{what}' failed to satisfy constraint: "
            "Member must have length between 3 and 255, "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
        )


def _check_key(key: tuple[KeyAttribute, ...]) -> None:
    for attribute in key:
        check_name_length(attribute.name)
    if len({attribute.name for attribute in key}) < len(key):
        message = "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        raise ValidationFailed(_INVALID + message)


def check_name_length(name: str) -> None:
    """Raise ValidationFailed for a key, projected or TTL attribute whose name is empty or too long."""
    if not 1 <= text_size(name) <= MAX_NAME_BYTES:
        message = f"Attribute name must be between 1 and {MAX_NAME_BYTES} bytes long"
        raise ValidationFailed(f"{_INVALID}{message}: {name:.60}")


def _check_local(schema: TableSchema, index: IndexSchema) -> None:
    if schema.range is None:
        message = "which is required when specifying a LocalSecondaryIndex"
        raise ValidationFailed(f"{_INVALID}Table KeySchema does not have a range key, {message}")
    if index.hash != (schema.hash,):
        message = "Index KeySchema does not have the same leading hash key as table KeySchema for index"
        raise ValidationFailed(f"{_INVALID}{message}: {index.name}")
    if len(index.range) != 1:
        raise ValidationFailed(f"{_INVALID}Index KeySchema does not have a range key for index: {index.name}")


def _check_projection(names: tuple[str, ...]) -> None:
    if not names:
        raise ValidationFailed(f"{_INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    for name in names:
        check_name_length(name)


def _check_counts(schema: TableSchema) -> None:
    local = sum(index.local for index in schema.indexes)
    if local > MAX_LOCAL:
        message = f"Number of LocalSecondaryIndexes exceeds per-table limit of {MAX_LOCAL}"
        raise ValidationFailed(_INVALID + message)
    if len(schema.indexes) - local > MAX_GLOBAL:
        message = f"GlobalSecondaryIndex count exceeds the per-table limit of {MAX_GLOBAL}"
        raise ValidationFailed(_INVALID + message)
    included = sum(len(index.projection) for index in schema.indexes if isinstance(index.projection, tuple))
    if included > MAX_PROJECTED:
        message = f"Number of projected attributes exceeds the per-table limit of {MAX_PROJECTED}"
        raise ValidationFailed(_INVALID + message)


def _check_vectors(schema: TableSchema) -> None:
    if len(schema.vectors) > MAX_VECTORS:
        raise ValidationFailed(f"{_INVALID}VectorIndex count exceeds the per-table limit of {MAX_VECTORS}")
    dimensions: dict[str, int] = {}
    for index in schema.vectors:
        _check_vector_index(index)
        if dimensions.setdefault(index.attribute, index.dimensions) != index.dimensions:
            raise ValidationFailed(
                f"{_INVALID}Conflicting attribute definition for '{index.attribute}'. "
                "All VectorIndexes on the same vector attribute must use the same dimensions."
            )


def _check_vector_index(index: VectorIndexSchema) -> None:
    _check_name(index.name, "indexName")
    check_name_length(index.attribute)
    if not 1 <= index.dimensions <= MAX_DIMENSIONS:
        raise ValidationFailed(f"{_INVALID}Number of dimensions must be between 1 and {MAX_DIMENSIONS} inclusive.")
    if len(index.filters) > MAX_FILTERS:
        message = f"Number of INLINE_FILTER attributes exceeds the limit of {MAX_FILTERS}"
        raise ValidationFailed(f"{_INVALID}{message}: {index.name}")
    names = [attribute.name for attribute in index.search]
    for name in names:
        check_name_length(name)
    if len({*names, index.attribute}) <= len(names):
        raise ValidationFailed(f"{_INVALID}An attribute is in the SearchSchema twice, or is the vector: {index.name}")
    if isinstance(index.projection, tuple):
        _check_projection(index.projection)


def _check_types(schema: TableSchema) -> None:
    types = {attribute.name: attribute.type for attribute in schema.key}
    keys = (*(index.key for index in schema.indexes), *(index.search for index in schema.vectors))
    for key in keys:
        for attribute in key:
            if types.setdefault(attribute.name, attribute.type) != attribute.type:
                message = f"Attribute {attribute.name} is defined with two types"
                raise ValidationFailed(f"{_INVALID}{message}")
