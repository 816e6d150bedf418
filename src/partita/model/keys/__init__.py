"""Keys: templates with fields and derived parts, bound to the attributes of tables and indexes."""

from partita.model.keys._annotations import allows_none, kinds_of
from partita.model.keys._bound import AttributeTemplate, BoundKey, Key, fields_in, template_texts
from partita.model.keys._checks import key_type
from partita.model.keys._derived import Derived, Shards, derived_of
from partita.model.keys._format import DEFAULT_FORMAT, KeyFormat, escape
from partita.model.keys._parts import bare_value, part_text
from partita.model.keys._stored import (
    KeyOnly,
    StoredKey,
    StoredKeys,
    has_remembered,
    inherit_key,
    key_to_write,
    remember_key,
)
from partita.model.keys._template import KeyPart, Placeholder, Prefix, Span, Template

__all__ = [
    "DEFAULT_FORMAT",
    "AttributeTemplate",
    "BoundKey",
    "Derived",
    "Key",
    "KeyFormat",
    "KeyOnly",
    "KeyPart",
    "Placeholder",
    "Prefix",
    "Shards",
    "Span",
    "StoredKey",
    "StoredKeys",
    "Template",
    "allows_none",
    "bare_value",
    "derived_of",
    "escape",
    "fields_in",
    "has_remembered",
    "inherit_key",
    "key_to_write",
    "key_type",
    "kinds_of",
    "part_text",
    "remember_key",
    "template_texts",
]
