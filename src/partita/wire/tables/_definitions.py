"""Reads the definition of a table or index from a call, with the checks that DynamoDB makes first."""

from __future__ import annotations

from typing import Final

from partita.errors import ValidationFailed
from partita.store import IndexSchema, Json, TableSchema, table_schema
from partita.wire._parameters import MAX_NAME, MIN_NAME, Parameters, member, refuse, show, violated
from partita.wire.tables._settings import ON_DEMAND, PROVISIONED
from partita.wire.vectors import check_vector_definitions, vector_names

INVALID: Final = "One or more parameter values were invalid: "
_TYPES: Final = ("B", "N", "S")
_ROLES: Final = ("HASH", "RANGE")
_PROJECTIONS: Final = ("ALL", "INCLUDE", "KEYS_ONLY")
_VIEWS: Final = ("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY")
BILLING: Final = (PROVISIONED, ON_DEMAND)
_MAX_KEY: Final = 2
_MAX_GLOBAL: Final = 20
_MAX_LOCAL: Final = 5
_KINDS: Final = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
_CREATED_WITH_STREAM: Final = "Table is being created with a stream enabled, UpdateViewType is required"
_CREATED_WITHOUT_STREAM: Final = "Table is being created with a stream disabled, UpdateViewType should not be specified"
_STREAM_ENABLED: Final = "If stream is being enabled then UpdateViewType is required"
_STREAM_DISABLED: Final = "If stream is being disabled, then UpdateViewType must not be specified"


def read_table(call: Parameters) -> TableSchema:
    """The schema of a new table.

    Raises:
        ValidationFailed: the definition breaks a rule.
    """
    name = new_table_name(call)
    call.choice("BillingMode", BILLING)
    _check_definitions(call)
    _check_key(call.given, "keySchema", limit=_MAX_KEY)
    _check_index_names(call)
    for kind in _KINDS:
        for position, index in enumerate(call.structures(kind), 1):
            _check_index(index, f"{member(kind)}.{position}.member", local=kind == _KINDS[0])
    check_vector_definitions(call, on_demand=call.given.get("BillingMode") == ON_DEMAND)
    _check_names(call.given)
    described = {**call.given, "TableName": name, "StreamSpecification": read_stream(call, creating=True)}
    return table_schema(described, None)


def _check_index_names(call: Parameters) -> None:
    """Refuse index names that are too short or too long, all of them together and global indexes first."""
    found = []
    for kind in reversed(_KINDS):
        for position, index in enumerate(call.structures(kind), 1):
            name, at = Parameters(index).text("IndexName"), f"{member(kind)}.{position}.member.indexName"
            if name is not None and len(name) < MIN_NAME:
                found.append(violated(name, at, f"Member must have length greater than or equal to {MIN_NAME}"))
            elif name is not None and len(name) > MAX_NAME:
                found.append(violated(name, at, f"Member must have length less than or equal to {MAX_NAME}"))
    if found:
        refuse(*found)


def new_table_name(call: Parameters) -> str:
    """The name of a table that is to be created or changed."""
    name = call.text("TableName")
    if name is None:
        raise ValidationFailed("The parameter 'TableName' is required but was not present in the request")
    if len(name) < MIN_NAME:
        refuse(violated(name, "tableName", f"Member must have length greater than or equal to {MIN_NAME}"))
    if len(name) > MAX_NAME:
        refuse(violated(name, "tableName", f"Member must have length less than or equal to {MAX_NAME}"))
    return call.table()


def _check_definitions(call: Parameters) -> None:
    if call.given.get("AttributeDefinitions") is None:
        refuse(violated(None, "attributeDefinitions", "Member must not be null"))
    defined = set()
    for position, definition in enumerate(call.structures("AttributeDefinitions"), 1):
        name = _attribute_name(definition, f"attributeDefinitions.{position}.member")
        _check_word(definition, "AttributeType", f"attributeDefinitions.{position}.member.attributeType", _TYPES)
        if name in defined:
            raise ValidationFailed(f"Attribute Name is duplicated: {name}")
        defined.add(name)


def _attribute_name(part: Json, at: str) -> str:
    name = Parameters(part).required("AttributeName", f"{at}.attributeName")
    if len(name) > MAX_NAME:
        rule = f"Member must have length less than or equal to {MAX_NAME}"
        refuse(violated(name, f"{at}.attributeName", rule))
    return name


def _check_word(part: Json, name: str, at: str, options: tuple[str, ...]) -> None:
    given = Parameters(part).required(name, at)
    if given not in options:
        refuse(violated(given, at, f"Member must satisfy enum value set: [{', '.join(options)}]"))


def _check_key(part: Json, at: str, limit: int) -> None:
    if part.get("KeySchema") is None:
        refuse(violated(None, at, "Member must not be null"))
    key = Parameters(part).structures("KeySchema")
    if not key:
        refuse(violated("[]", at, "Member must have length greater than or equal to 1"))
    if len(key) > limit:
        elements = ", ".join(f"KeySchemaElement({show_fields(element)})" for element in key)
        refuse(violated(f"[{elements}]", at, f"Member must have length less than or equal to {limit}"))
    for position, element in enumerate(key, 1):
        _attribute_name(element, f"{at}.{position}.member")
        _check_word(element, "KeyType", f"{at}.{position}.member.keyType", _ROLES)


def show_fields(part: Json) -> str:
    """Format the fields of a structure as in AWS's messages."""
    return ", ".join(f"{member(name)}={show(value)}" for name, value in part.items())


def _check_index(index: Json, at: str, *, local: bool) -> None:
    Parameters(index).required("IndexName", f"{at}.indexName")
    _check_key(index, f"{at}.keySchema", limit=_MAX_KEY if local else 8)
    _check_hashes_first(index["KeySchema"])
    projection = Parameters(index).fields("Projection")
    if projection is None:
        refuse(violated(None, f"{at}.projection", "Member must not be null"))
    if projection.get("ProjectionType") is None:
        raise ValidationFailed(f"{INVALID}Unknown ProjectionType: null")
    _check_word(projection, "ProjectionType", f"{at}.projection.projectionType", _PROJECTIONS)
    _check_projection(projection)


def _check_hashes_first(key: list[Json]) -> None:
    roles = [element["KeyType"] for element in key]
    if roles[0] != "HASH":
        raise ValidationFailed("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if roles != sorted(roles):
        message = "All HASH key attributes must precede RANGE key attributes in the KeySchema"
        raise ValidationFailed(INVALID + message)


def _check_projection(projection: Json) -> None:
    kind, names = projection["ProjectionType"], Parameters(projection).texts("NonKeyAttributes")
    if kind == "INCLUDE" and not names:
        raise ValidationFailed(f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind in ("ALL", "KEYS_ONLY") and names is not None:
        raise ValidationFailed(f"{INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified")
    if names is not None and len(set(names)) < len(names):
        repeated = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValidationFailed(f"{INVALID}Duplicate element in NonKeyAttributes: {repeated}")


def _check_names(given: Json) -> None:
    """Check that every key attribute is defined, and that no other attribute is."""
    defined = [definition["AttributeName"] for definition in given["AttributeDefinitions"]]
    table = [element["AttributeName"] for element in given["KeySchema"]]
    if len(set(defined)) < len(table):
        raise ValidationFailed("Invalid KeySchema: Some index key attribute have no definition")
    used = list(table)
    _check_defined(table, defined)
    for kind in _KINDS:
        if given.get(kind) == []:
            raise ValidationFailed(f"{INVALID}List of {kind} is empty")
        for index in given.get(kind) or ():
            names = [element["AttributeName"] for element in index["KeySchema"]]
            _check_defined(names, defined)
            _check_distinct(names)
            used += names
    used += vector_names(given)
    _check_roles(given["KeySchema"])
    if len(set(defined)) > len(set(used)):
        if len(used) == len(table):
            message = "Number of attributes in KeySchema does not exactly match number of attributes defined in"
            raise ValidationFailed(f"{INVALID}{message} AttributeDefinitions")
        message = f"AttributeDefinitions: {show(defined)}, keys used: {show(list(dict.fromkeys(used)))}"
        raise ValidationFailed(f"{INVALID}Some AttributeDefinitions are not used. {message}")


def _check_defined(names: list[str], defined: list[str]) -> None:
    if set(names).difference(defined):
        message = f"Keys: {show(names)}, AttributeDefinitions: {show(defined)}"
        raise ValidationFailed(f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. {message}")


def _check_distinct(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise ValidationFailed("Both the Hash Key and the Range Key element in the KeySchema have the same name")


def _check_roles(key: list[Json]) -> None:
    if key[0]["KeyType"] != "HASH":
        raise ValidationFailed("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(key) > 1 and key[1]["KeyType"] != "RANGE":
        raise ValidationFailed("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def read_index(call: Parameters, definition: Json, table: TableSchema) -> IndexSchema:
    """An index to add. The call defines all its key attributes, including those that the table already defines."""
    _check_definitions(Parameters({"AttributeDefinitions": call.members("AttributeDefinitions") or []}))
    _check_index(definition, "globalSecondaryIndexUpdates.1.member.create", local=False)
    defined = {each["AttributeName"]: each["AttributeType"] for each in call.structures("AttributeDefinitions")}
    _check_defined([element["AttributeName"] for element in definition["KeySchema"]], list(defined))
    known = {part.name: part.type for part in (*table.key, *(part for index in table.indexes for part in index.key))}
    known = defined | known  # the definitions of the table take precedence over those of the call
    described = {
        "TableName": table.name,
        "KeySchema": [{"AttributeName": table.hash.name, "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in known.items()],
        "GlobalSecondaryIndexes": [definition],
    }
    return table_schema(described, None).indexes[0]


def read_stream(call: Parameters, *, creating: bool) -> Json | None:
    """The checked stream specification, or None."""
    given = call.fields("StreamSpecification")
    if given is None:
        return None
    part = Parameters(given)
    enabled, view = part.flag("StreamEnabled"), part.text("StreamViewType")
    if enabled is None:
        refuse(violated(None, "streamSpecification.streamEnabled", "Member must not be null"))
    if view is not None and view not in _VIEWS:
        rule = f"Member must satisfy enum value set: [{', '.join(_VIEWS)}]"
        refuse(violated(view, "streamSpecification.streamViewType", rule))
    if enabled and view is None:
        raise ValidationFailed(INVALID + (_CREATED_WITH_STREAM if creating else _STREAM_ENABLED))
    if not enabled and view is not None:
        raise ValidationFailed(INVALID + (_CREATED_WITHOUT_STREAM if creating else _STREAM_DISABLED))
    return given
