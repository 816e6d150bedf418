"""The model: tables, entities, keys and fields as they are declared, and what is derived from them."""

from partita.model._attributes import instant_text, to_attribute
from partita.model._bound_key import BoundKey, Key, allows_none, kinds_of
from partita.model._budget import Budget, Rcu, Wcu
from partita.model._entity import Entity, EntitySchema, PartialItem, Version, schema_of
from partita.model._fields import Change, Ref, RemoveAction, all_of, any_of, f, not_
from partita.model._key_format import KeyFormat, escape
from partita.model._key_parts import bare_value, part_text
from partita.model._keys import KeyPart, Placeholder, Prefix, Span, Template
from partita.model._naming import snake
from partita.model._stored_keys import KeyOnly
from partita.model._table import REGISTRY, Index, LocalIndex, Registry, Table, TypeTag
from partita.model._updates import to_update

__all__ = [
    "REGISTRY",
    "BoundKey",
    "Budget",
    "Change",
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
    "Span",
    "Table",
    "Template",
    "TypeTag",
    "Version",
    "Wcu",
    "all_of",
    "allows_none",
    "any_of",
    "bare_value",
    "escape",
    "f",
    "instant_text",
    "kinds_of",
    "not_",
    "part_text",
    "schema_of",
    "snake",
    "to_attribute",
    "to_update",
]
