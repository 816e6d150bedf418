"""Reading the definition of a table or index from a call, with what DynamoDB refuses before it looks further."""

from __future__ import annotations

from typing import Final

from partita.errors import ValidationFailed
from partita.store import IndexSchema, Json, TableSchema, table_schema
from partita.wire._parameters import MAX_LONG, MAX_NAME, MIN_NAME, Parameters, refuse, show, violated
from partita.wire._settings import ON_DEMAND, Settings, Throughput

_INVALID: Final = "One or more parameter values were invalid: "
_TYPES: Final = ("B", "N", "S")
_ROLES: Final = ("HASH", "RANGE")
_PROJECTIONS: Final = ("ALL", "INCLUDE", "KEYS_ONLY")
_VIEWS: Final = ("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY")
_BILLING: Final = ("PROVISIONED", ON_DEMAND)
_MAX_KEY: Final = 2
_MAX_TAG_KEY: Final = 128
_MAX_TAG_VALUE: Final = 256
_TAG_SIGNS: Final = "+-=._:/@"
MAX_TAGS: Final = 50
_KINDS: Final = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")


def read_table(call: Parameters) -> TableSchema:
    """The schema of a table that is to be made.

    Raises:
        ValidationFailed: the definition breaks a rule.
    """
    name = new_table_name(call)
    call.choice("BillingMode", _BILLING)
    _check_definitions(call)
    _check_key(call.given, "keySchema", limit=_MAX_KEY)
    for kind in _KINDS:
        for position, index in enumerate(call.structures(kind), 1):
            _check_index(index, f"{kind[:1].lower()}{kind[1:]}.{position}.member", local=kind == _KINDS[0])
    _check_names(call.given)
    described = {**call.given, "TableName": name, "StreamSpecification": read_stream(call)}
    return table_schema(described, None)


def new_table_name(call: Parameters) -> str:
    """The name of a table that is to be made or changed."""
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
            raise ValidationFailed(f"{_INVALID}Duplicate AttributeName in AttributeDefinitions: {name}")
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
    """The fields of a structure as messages show them."""
    return ", ".join(f"{name[:1].lower()}{name[1:]}={show(value)}" for name, value in part.items())


def _check_index(index: Json, at: str, *, local: bool) -> None:
    Parameters(index).required("IndexName", f"{at}.indexName")
    _check_key(index, f"{at}.keySchema", limit=_MAX_KEY if local else 8)
    _check_hashes_first(index["KeySchema"])
    projection = Parameters(index).fields("Projection")
    if projection is None:
        refuse(violated(None, f"{at}.projection", "Member must not be null"))
    if projection.get("ProjectionType") is None:
        raise ValidationFailed(f"{_INVALID}Unknown ProjectionType: null")
    _check_word(projection, "ProjectionType", f"{at}.projection.projectionType", _PROJECTIONS)
    _check_projection(projection)


def _check_hashes_first(key: list[Json]) -> None:
    roles = [element["KeyType"] for element in key]
    if roles[0] != "HASH":
        raise ValidationFailed("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if roles != sorted(roles):
        raise ValidationFailed("Invalid KeySchema: All HASH key elements must precede RANGE key elements")


def _check_projection(projection: Json) -> None:
    kind, names = projection["ProjectionType"], Parameters(projection).texts("NonKeyAttributes")
    if kind == "INCLUDE" and not names:
        raise ValidationFailed(f"{_INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind in ("ALL", "KEYS_ONLY") and names is not None:
        raise ValidationFailed(f"{_INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified")
    if names is not None and len(set(names)) < len(names):
        raise ValidationFailed(f"{_INVALID}Duplicate value in NonKeyAttributes: {show(names)}")


def _check_names(given: Json) -> None:
    """Each key attribute is defined once, and nothing else is."""
    defined = [definition["AttributeName"] for definition in given["AttributeDefinitions"]]
    table = [element["AttributeName"] for element in given["KeySchema"]]
    if len(set(defined)) < len(table):
        raise ValidationFailed("Invalid KeySchema: Some index key attribute have no definition")
    used = list(table)
    _check_defined(table, defined)
    for kind in _KINDS:
        if given.get(kind) == []:
            raise ValidationFailed(f"{_INVALID}List of {kind} is empty")
        for index in given.get(kind) or ():
            names = [element["AttributeName"] for element in index["KeySchema"]]
            _check_defined(names, defined)
            _check_distinct(names)
            used += names
    _check_roles(given["KeySchema"])
    if len(set(defined)) > len(set(used)):
        if len(used) == len(table):
            message = "Number of attributes in KeySchema does not exactly match number of attributes defined in"
            raise ValidationFailed(f"{_INVALID}{message} AttributeDefinitions")
        message = f"AttributeDefinitions: {show(defined)}, keys used: {show(list(dict.fromkeys(used)))}"
        raise ValidationFailed(f"{_INVALID}Some AttributeDefinitions are not used. {message}")


def _check_defined(names: list[str], defined: list[str]) -> None:
    if set(names).difference(defined):
        message = f"Keys: {show(names)}, AttributeDefinitions: {show(defined)}"
        raise ValidationFailed(
            f"{_INVALID}Some index key attributes are not defined in AttributeDefinitions. {message}"
        )


def _check_distinct(names: list[str]) -> None:
    if len(set(names)) < len(names):
        message = "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        raise ValidationFailed(_INVALID + message)


def _check_roles(key: list[Json]) -> None:
    if key[0]["KeyType"] != "HASH":
        raise ValidationFailed("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(key) > 1 and key[1]["KeyType"] != "RANGE":
        raise ValidationFailed("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def read_index(call: Parameters, definition: Json, table: TableSchema) -> IndexSchema:
    """An index that is to be added; the call defines its key attributes, also those that the table knows."""
    _check_definitions(Parameters({"AttributeDefinitions": call.members("AttributeDefinitions") or []}))
    _check_index(definition, "globalSecondaryIndexUpdates.1.member.create", local=False)
    defined = {each["AttributeName"]: each["AttributeType"] for each in call.structures("AttributeDefinitions")}
    _check_defined([element["AttributeName"] for element in definition["KeySchema"]], list(defined))
    known = {part.name: part.type for part in (*table.key, *(part for index in table.indexes for part in index.key))}
    for name, kind in defined.items():
        if known.setdefault(name, kind) != kind:
            message = "Attributes cannot be redefined. Please check that your attribute has the same type as previously"
            raise ValidationFailed(f"{_INVALID}{message} defined. Existing: {name}:{known[name]} New: {name}:{kind}")
    described = {
        "TableName": table.name,
        "KeySchema": [{"AttributeName": table.hash.name, "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in known.items()],
        "GlobalSecondaryIndexes": [definition],
    }
    return table_schema(described, None).indexes[0]


def read_stream(call: Parameters) -> Json | None:
    """The stream's specification, checked."""
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
        raise ValidationFailed(f"{_INVALID}StreamViewType must be specified when StreamEnabled is true")
    if not enabled and view is not None:
        raise ValidationFailed(f"{_INVALID}StreamViewType must not be specified when StreamEnabled is false")
    return given


def read_billing(call: Parameters, before: Settings, *, creating: bool) -> Settings:
    """The settings after a call that makes or changes a table."""
    billing = call.choice("BillingMode", _BILLING, "PROVISIONED" if creating else before.billing) or before.billing
    units = read_throughput(call.fields("ProvisionedThroughput"), "provisionedThroughput")
    if billing == ON_DEMAND and units is not None:
        message = (
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
        )
        raise ValidationFailed(_INVALID + message)
    changes = billing != before.billing
    if billing == "PROVISIONED" and units is None and (creating or changes):
        message = "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        raise ValidationFailed(_INVALID + message)
    indexes = dict(before.indexes)
    for index in call.structures("GlobalSecondaryIndexes"):
        indexes[index["IndexName"]] = _index_units(index, billing)
    tags = before.tags | read_tags(call)
    check_tag_count(tags)
    protected = call.flag("DeletionProtectionEnabled")
    return Settings(
        billing=billing,
        throughput=Throughput() if billing == ON_DEMAND else units or before.throughput,
        indexes={} if billing == ON_DEMAND else indexes,
        tags=tags,
        protected=before.protected if protected is None else protected,
        table_class=call.choice("TableClass", ("STANDARD", "STANDARD_INFREQUENT_ACCESS"), before.table_class),
        recovery=before.recovery,
    )


def _index_units(index: Json, billing: str) -> Throughput:
    units = read_throughput(Parameters(index).fields("ProvisionedThroughput"), "provisionedThroughput")
    if billing == ON_DEMAND:
        if units is not None:
            message = "ProvisionedThroughput should not be specified for index:"
            raise ValidationFailed(f"{_INVALID}{message} {index['IndexName']} when BillingMode is PAY_PER_REQUEST")
        return Throughput()
    if units is None:
        raise ValidationFailed(f"{_INVALID}ProvisionedThroughput must be specified for index: {index['IndexName']}")
    return units


def read_throughput(given: Json | None, at: str) -> Throughput | None:
    """Provisioned units; each must be one or more."""
    if given is None:
        return None
    call = Parameters(given)
    read, write = call.whole("ReadCapacityUnits", MAX_LONG), call.whole("WriteCapacityUnits", MAX_LONG)
    for name, units in (("readCapacityUnits", read), ("writeCapacityUnits", write)):
        if units is None:
            refuse(violated(None, f"{at}.{name}", "Member must not be null"))
        elif units < 1:
            refuse(violated(units, f"{at}.{name}", "Member must have value greater than or equal to 1"))
    return Throughput(read or 0, write or 0)


def read_tags(call: Parameters) -> dict[str, str]:
    """Tags, by key."""
    tags: dict[str, str] = {}
    for position, given in enumerate(call.structures("Tags"), 1):
        tag, at = Parameters(given), f"tags.{position}.member"
        key, value = tag.required("Key", f"{at}.key"), tag.required("Value", f"{at}.value")
        _check_tag(key, f"{at}.key", _MAX_TAG_KEY)
        _check_tag(value, f"{at}.value", _MAX_TAG_VALUE)
        tags[key] = value
    return tags


def _check_tag(text: str, at: str, limit: int) -> None:
    if len(text) > limit:
        refuse(violated(text, at, f"Member must have length less than or equal to {limit}"))
    if not all(letter.isalnum() or letter.isspace() or letter in _TAG_SIGNS for letter in text):
        refuse(violated(text, at, f"Member must have only letters, numbers, white space and {_TAG_SIGNS}"))


def check_tag_count(tags: dict[str, str]) -> None:
    """Refuse more tags than a table may have."""
    if len(tags) > MAX_TAGS:
        raise ValidationFailed(f"{_INVALID}Number of tags must not exceed the limit of {MAX_TAGS}")
