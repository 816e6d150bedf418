"""Checks of an entity as a whole, beyond each of its keys, which run when the class is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.errors import ModelError
from partita.model._field_checks import check_fields, check_ttl, has_serializer, is_instant
from partita.model._stored_forms import is_opaque, marks_inside
from partita.model.keys import BoundKey, allows_none, key_type, kinds_of
from partita.store import KeyAttribute

if TYPE_CHECKING:
    from partita.model._entity import EntitySchema


def check_entity(schema: EntitySchema[Any]) -> None:
    """Reject an entity whose items could not be stored, found or read back.

    Raises:
        ModelError: the entity is invalid; the message names the field or key.
    """
    if schema.cls.model_config.get("extra") not in ("ignore", "allow"):
        message = f'{schema.name} must have extra="ignore" or "allow", because an item has keys besides its fields.'
        raise ModelError(message, owner=schema.cls)
    if schema.tag is not None and schema.tag.attribute in schema.fields:
        message = f"{schema.name}: the field stored as {schema.tag.attribute!r} is the type attribute of its table."
        raise ModelError(message, owner=schema.cls, hint="Remove the field: every item gets its type automatically.")
    check_fields(schema.cls)
    _check_stored_names(schema)
    _check_expiry(schema)
    _check_one_key_per_index(schema)
    _check_local_keys(schema)
    _check_shared_attributes(schema)
    _check_conditional_keys(schema)
    _check_key_attributes(schema)
    _check_forms(schema)
    for key in schema.keys.values():
        _check_own_attributes(schema, key)


def _check_forms(schema: EntitySchema[Any]) -> None:
    """Reject a compressed or encrypted field whose value the store has to read."""
    for name, field in schema.cls.model_fields.items():
        label = f"{schema.name}.{name}"
        if marks_inside(field.annotation):
            hint = "Write Encrypted[str | None], and not Encrypted[str] | None."
            raise ModelError(
                f"{label}: only a whole field can be compressed or encrypted.", owner=schema.cls, hint=hint
            )
        if not is_opaque(field):
            continue
        keys = [key.name for key in schema.keys.values() if name in key.sources]
        if keys:
            message = f"{label} is compressed or encrypted, so it cannot be in the key {schema.name}.{keys[0]}."
            raise ModelError(message, owner=schema.cls, hint="Keep what the key needs in a separate field.")
        if name == schema.version or schema.attribute(name) == schema.expires:
            raise ModelError(
                f"{label} is read by the store, so it cannot be compressed or encrypted.", owner=schema.cls
            )


def _check_stored_names(schema: EntitySchema[Any]) -> None:
    names = list(schema.attributes.values())
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"{schema.name}: two fields are stored as {name!r}.", owner=schema.cls)


def _check_expiry(schema: EntitySchema[Any]) -> None:
    for name, field in schema.cls.model_fields.items():
        if schema.attribute(name) != schema.expires:
            continue
        label = f"{schema.name}.{schema.expires}"
        check_ttl(label, field)
        if is_instant(field) and name in schema.primary.inputs:
            message = f"{label}: a TTL stores whole seconds, so an instant cannot be in the primary key."
            raise ModelError(message, owner=schema.cls, hint="Make it an int, or remove it from the primary key.")


def _check_one_key_per_index(schema: EntitySchema[Any]) -> None:
    indexes = [key.index for key in schema.keys.values()]
    for index in indexes:
        if indexes.count(index) > 1:
            where = f"the index {index!r}" if index else "the table"
            names = " and ".join(name for name, key in schema.keys.items() if key.index == index)
            hint = 'Write Key(…, index="…") for a key of an index.' if index is None else ""
            raise ModelError(f"{schema.name} has two keys for {where}: {names}.", owner=schema.cls, hint=hint)


def _check_local_keys(schema: EntitySchema[Any]) -> None:
    expected = schema.primary.hash_text
    for key in schema.keys.values():
        if schema.table.is_local(key.index) and key.hash_text != expected:
            message = f"{schema.name}.{key.name}: a local index must have the table's partition key {expected!r}."
            raise ModelError(message, owner=schema.cls)


def _check_shared_attributes(schema: EntitySchema[Any]) -> None:
    """Reject two keys that would write different texts into the same attribute."""
    texts: dict[str, str] = {}
    for key in schema.keys.values():
        for attribute, template in key.attributes:
            text = texts.setdefault(attribute.name, template.text)
            if text != template.text:
                message = f"{schema.name}: two keys write the attribute {attribute.name!r}, as {text!r} and as "
                hint = "Keys that share an attribute need the same template for it; or use another attribute."
                raise ModelError(f"{message}{template.text!r}.", owner=schema.cls, hint=hint)


def _check_conditional_keys(schema: EntitySchema[Any]) -> None:
    """Reject `when` on a key without an attribute that could be omitted to keep the item out of the index."""
    for key in schema.secondary:
        others = {name for other in schema.secondary if other is not key for name in other.written}
        if key.when is not None and not set(key.written) - others:
            message = f"{schema.name}.{key.name}: `when` needs an attribute that only this key writes."
            hint = "Otherwise every item has all attributes of the index. Give the index its own attribute."
            raise ModelError(message, owner=schema.cls, hint=hint)


def _check_key_attributes(schema: EntitySchema[Any]) -> None:
    """Reject a field that is stored in a key attribute of the table, unless a key consists of this field alone.

    It may also be one of several attributes of an index that does not contain its items, because they lack another.
    """
    table = schema.table.schema
    keys = [table.key, *(index.key for index in table.indexes)]
    keys += [(index.hash,) for index in table.vectors if index.hash is not None]
    types = {attribute.name: attribute for key in keys for attribute in key}
    written = {name for key in schema.keys.values() for name in key.written}
    for name in sorted(types.keys() & schema.fields.keys()):
        is_own = any(_is_own_attribute(schema, key, name) for key in schema.keys.values())
        if name in written or not (is_own or _is_apart(schema, types[name])):
            message = f"{schema.name}: the field stored as {name!r} clashes with a key attribute of {schema.table!r}."
            hint = "Rename the field, or declare a Key that consists of this field alone."
            raise ModelError(message, owner=schema.cls, hint=hint)


def _is_apart(schema: EntitySchema[Any], attribute: KeyAttribute) -> bool:
    """Whether a field may be stored in a key attribute: its type fits, and does not put the item into an index."""
    field = schema.fields[attribute.name]
    kinds = kinds_of(schema.cls.model_fields[field].annotation)
    table = schema.table.schema
    indexes = [index for index in table.indexes if attribute in index.key]
    return (
        attribute not in table.key
        and all(len(index.hash) > 1 or len(index.range) > 1 for index in indexes)
        and not any(schema.may_be_in(index.name) for index in indexes)
        and all(isinstance(kind, type) and key_type(kind) == attribute.type for kind in kinds)
    )


def _is_own_attribute(schema: EntitySchema[Any], key: BoundKey, name: str) -> bool:
    return any(
        attribute.name == name and template.bare and schema.attributes.get(template.fields[0]) == name
        for attribute, template in key.attributes
    )


def _check_own_attributes(schema: EntitySchema[Any], key: BoundKey) -> None:
    """Reject a key attribute that is a field itself if the field is not stored in the form of a key."""
    for attribute, template in key.attributes:
        field = template.fields[0] if template.bare else ""
        if schema.attributes.get(field) != attribute.name:
            continue
        label, info = f"{schema.name}.{field}", schema.cls.model_fields[field]
        if has_serializer(schema.cls, field) or any(hasattr(kind, "__key__") for kind in kinds_of(info.annotation)):
            message = f"{label} is a key attribute itself, but is stored in a custom form."
            raise ModelError(message, owner=schema.cls, hint="Give the key attribute a different name from the field.")
        if allows_none(info.annotation) and info.default is not None:
            message = f"{label} may be None and is an index key itself, so its default must be None."
            raise ModelError(message, owner=schema.cls, hint=f"Give {field} the default None.")
