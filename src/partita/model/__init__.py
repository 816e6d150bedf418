"""The model: declared tables, entities, keys and fields, and everything that is derived from them."""

from partita.model._attributes import instant_text, to_attribute
from partita.model._budget import Budget, Rcu, SearchedKb, Wcu
from partita.model._entity import Entity, EntitySchema, PartialItem, schema_of
from partita.model._fields import Change, Ref, RemoveAction, all_of, any_of, f, not_
from partita.model._naming import snake
from partita.model._stored_forms import Compressed, Encrypted, encrypted
from partita.model._table import REGISTRY, Index, LocalIndex, Registry, Table, TypeTag, VectorIndex
from partita.model._updates import check_kinds, to_update
from partita.model._vector import Dimensions, Vector, vector_of
from partita.model._version import Version
from partita.model.keys import (
    AttributeTemplate,
    BoundKey,
    Derived,
    Key,
    KeyFormat,
    KeyOnly,
    KeyPart,
    Placeholder,
    Prefix,
    Shards,
    Span,
    Template,
    allows_none,
    bare_value,
    escape,
    fields_in,
    kinds_of,
    part_text,
    template_texts,
)

__all__ = [
    "REGISTRY",
    "AttributeTemplate",
    "BoundKey",
    "Budget",
    "Change",
    "Compressed",
    "Derived",
    "Dimensions",
    "Encrypted",
    "Entity",
    "EntitySchema",
    "Index",
    "Key",
    "KeyFormat",
    "KeyOnly",
    "KeyPart",
    "LocalIndex",
    "PartialItem",
    "Placeholder",
    "Prefix",
    "Rcu",
    "Ref",
    "Registry",
    "RemoveAction",
    "SearchedKb",
    "Shards",
    "Span",
    "Table",
    "Template",
    "TypeTag",
    "Vector",
    "VectorIndex",
    "Version",
    "Wcu",
    "all_of",
    "allows_none",
    "any_of",
    "bare_value",
    "check_kinds",
    "encrypted",
    "escape",
    "f",
    "fields_in",
    "instant_text",
    "kinds_of",
    "not_",
    "part_text",
    "schema_of",
    "snake",
    "template_texts",
    "to_attribute",
    "to_update",
    "vector_of",
]
