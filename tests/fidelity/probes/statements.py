"""PartiQL's SELECT from indexes, and statements in batches and transactions."""

# ruff: noqa: S608 - the statements have no user input

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json, n, nested, s
from tests.fidelity._shapes import shape

INVALID = "One or more parameter values were invalid: "
NEEDS_KEY = "Select statements within {} must specify the primary key in the where clause."
IN_FIRST = "Validation failed in TransactStatements[0]: "


def _indexed(api: Api) -> Json:
    """Put an item into all indexes, and return the key; some indexes project `keep`, and only `all` projects `np`."""
    key = api.new_key("1")
    mark = s(key["pk"]["S"])
    api.put("indexed", {**key, "g": mark, "h": s("h"), "n": n(1), "l": s("l"), "keep": s("k"), "np": s("np")})
    return key


def _select(api: Api, columns: str, index: str, where: str, **others: Any) -> Json:
    statement = f'SELECT {columns} FROM "{api.table("indexed")}"."{index}" WHERE {where}'
    return api("ExecuteStatement", Statement=statement, ReturnConsumedCapacity="INDEXES", **others)


def _refused(api: Api, message: str, columns: str, index: str, where: str, **others: Any) -> None:
    statement = f'SELECT {columns} FROM "{api.table("indexed")}"."{index}" WHERE {where}'
    refused(api, "ExecuteStatement", Statement=statement, message=message, **others)


@probe(rule=27, tier=2)
def a_select_of_a_local_index_fetches(api: Api) -> None:
    """Attributes that the index does not project are fetched from the table, which is charged for that."""
    pk = _indexed(api)["pk"]["S"]
    found = _select(api, "np", "local", f"pk = '{pk}'")
    same(found["Items"], [{"np": s("np")}])
    holds(found["ConsumedCapacity"]["Table"]["CapacityUnits"] > 0, "the fetch is not charged")
    found = _select(api, "l", "local", f"pk = '{pk}'")
    same(found["ConsumedCapacity"]["Table"]["CapacityUnits"], 0)


@probe(rule=27, tier=2)
def a_star_of_an_index_is_what_it_projects(api: Api) -> None:
    """Nothing is fetched from the table."""
    key = _indexed(api)
    pk = key["pk"]["S"]
    same(_select(api, "*", "local", f"pk = '{pk}'")["Items"], [{**key, "l": s("l")}])
    found = api.eventually(lambda: _select(api, "*", "some", f"g = '{pk}'")["Items"], bool)
    same(found, [{**key, "g": s(pk), "h": s("h"), "keep": s("k")}])


@probe(rule=27, tier=3)
def a_select_of_a_global_index_refuses_what_it_does_not_project(api: Api) -> None:
    """The message names the attributes in the order of the statement."""
    message = f"{INVALID}Global secondary index some does not project [zz, np]"
    _refused(api, message, "zz, np", "some", "g = 'x'")


FILTERED = {"global": ("some", "g = 'x'"), "local": ("local", "pk = 'x'"), "several": ("some", "g IN ['x', 'y']")}


@probe(rule=27, tier=3, cases=FILTERED)
def a_select_may_not_filter_by_what_the_index_does_not_project(api: Api, index: str, key: str) -> None:
    """The rule applies to statements that run as queries."""
    message = f"{INVALID}Secondary index {index} does not project one or more filter attributes: [np]"
    _refused(api, message, "pk", index, f"{key} AND np = 'np'")


@probe(rule=27, tier=2)
def a_scan_of_an_index_finds_nothing_by_what_it_does_not_project(api: Api) -> None:
    """The statement is not refused."""
    pk = _indexed(api)["pk"]["S"]
    same(_select(api, "pk", "some", f"np = 'np' AND pk = '{pk}'")["Items"], [])


@probe(rule=27, tier=3)
def an_index_that_cannot_be_read_is_refused(api: Api) -> None:
    """A missing index is the first error to be reported."""
    missing = "The table does not have the specified index"
    _refused(api, missing, "*", "none", "pk = 'x'")
    _refused(api, missing, "*", "none", "pk = 'x'", ConsistentRead=True)
    message = "Strongly consistent read is not supported on Global Secondary Indexes"
    _refused(api, message, "*", "all", "g = 'x'", ConsistentRead=True)


def _batch(api: Api, *statements: str) -> list[Json]:
    responses: list[Json] = api("BatchExecuteStatement", Statements=[{"Statement": each} for each in statements])[
        "Responses"
    ]
    return responses


def _here(api: Api, key: Json) -> str:
    return f"WHERE pk = '{key['pk']['S']}'"


@probe(rule=51, tier=2)
def statements_of_a_batch_fail_alone(api: Api) -> None:
    """The response of a statement that was executed names its table."""
    table, there = api.table("hash"), api.new_key()
    api.put("hash", {**there, "a": n(1)})
    inserted, false, malformed, returned = _batch(
        api,
        f"INSERT INTO \"{table}\" VALUE {{'pk': '{there['pk']['S']}'}}",
        f'UPDATE "{table}" SET b = 1 {_here(api, api.new_key())}',
        f'DELETE FROM "{table}" WHERE',
        f'DELETE FROM "{table}" {_here(api, api.new_key())} RETURNING ALL OLD *',
    )
    same((inserted["Error"]["Code"], inserted.get("TableName")), ("DuplicateItem", table))
    same((false["Error"]["Code"], false.get("TableName")), ("ConditionalCheckFailed", table))
    same((malformed["Error"]["Code"], malformed.get("TableName")), ("ValidationError", None))
    same(returned, {"TableName": table})


@probe(rule=51, tier=2)
def a_batch_reads_or_writes(api: Api) -> None:
    """A batch may name each item only once."""
    table, key = api.table("hash"), api.new_key()
    read, write = f'SELECT * FROM "{table}" {_here(api, key)}', f'DELETE FROM "{table}" {_here(api, key)}'
    message = "Read and write requests together in the same batch is not supported."
    refused(api, "BatchExecuteStatement", Statements=[{"Statement": each} for each in (read, write)], message=message)
    message = "Provided list of item keys contains duplicates"
    refused(api, "BatchExecuteStatement", Statements=[{"Statement": each} for each in (write, write)], message=message)


@probe(rule=51, tier=3)
def a_select_among_others_is_of_one_item(api: Api) -> None:
    """The WHERE clause must specify the whole key."""
    statement = f"SELECT * FROM \"{api.table('pair')}\" WHERE pk = 'x'"
    (response,) = _batch(api, statement)
    same(response["Error"]["Message"], NEEDS_KEY.format("BatchExecuteStatement"))
    message = IN_FIRST + NEEDS_KEY.format("ExecuteTransaction")
    refused(api, "ExecuteTransaction", TransactStatements=[{"Statement": statement}], message=message)


@probe(rule=51, tier=2)
def a_transaction_of_statements_writes_all(api: Api) -> None:
    """The list of responses is empty."""
    table, old, new = api.table("hash"), api.new_key(), api.new_key()
    api.put("hash", old)
    statements = [
        f'UPDATE "{table}" SET a = 1 {_here(api, old)} AND attribute_not_exists(a)',
        f"INSERT INTO \"{table}\" VALUE {{'pk': '{new['pk']['S']}'}}",
    ]
    response = api("ExecuteTransaction", TransactStatements=[{"Statement": each} for each in statements])
    same(response.get("Responses"), [])
    same((api.get("hash", old), api.get("hash", new)), ({**old, "a": n(1)}, new))


REFUSED = {
    "returning": (
        'UPDATE "{}" SET a = 1 {} RETURNING ALL NEW *',
        "RETURNING clause is not supported in ExecuteTransaction.",
    ),
    "exists": ('EXISTS(SELECT * FROM "{}" {})', "EXISTS() must contain a single item read with additional condition"),
    "index": ('SELECT * FROM "{}"."all" {}', "Reads on indices are not supported within transactions."),
    "grammar": ('SELECT * FROM "{}" WHERE', "Statement wasn't well formed, can't be processed: Unexpected term"),
}


@probe(rule=51, tier=3, cases=REFUSED)
def a_statement_that_a_transaction_refuses_is_named(api: Api, statement: str, message: str) -> None:
    """The message has the position of the statement."""
    table = api.table("indexed" if "all" in statement.split(" ")[3] else "hash")
    named = statement.format(table, _here(api, api.new_key()))
    refused(api, "ExecuteTransaction", TransactStatements=[{"Statement": named}], message=IN_FIRST + message)


@probe(rule=51, tier=3)
def a_transaction_of_statements_reads_or_writes(api: Api) -> None:
    """One transaction cannot do both."""
    table = api.table("hash")
    statements = [
        f'SELECT * FROM "{table}" {_here(api, api.new_key())}',
        f'DELETE FROM "{table}" {_here(api, api.new_key())}',
    ]
    message = "ExecuteTransaction API does not support both read and write operations in the same request."
    refused(api, "ExecuteTransaction", TransactStatements=[{"Statement": each} for each in statements], message=message)


@probe(rule=27, tier=2)
def an_index_is_read_by_its_key_or_as_a_whole(api: Api) -> None:
    """A local index can be read consistently."""
    key = _indexed(api)
    pk = key["pk"]["S"]
    found = api.eventually(lambda: _select(api, "pk, sk", "all", f"g = '{pk}'")["Items"], bool)
    same(found, [key])
    same(_select(api, "pk, sk", "all", f"pk = '{pk}'")["Items"], [key])
    same(_select(api, "pk, sk", "local", f"pk = '{pk}'", ConsistentRead=True)["Items"], [key])


@probe(rule=27, tier=3)
def a_scan_of_a_global_index_refuses_what_it_does_not_project(api: Api) -> None:
    """The message is the same as for a query."""
    statement = f'SELECT np FROM "{api.table("indexed")}"."some"'
    message = f"{INVALID}Global secondary index some does not project [np]"
    refused(api, "ExecuteStatement", Statement=statement, message=message)


def _many(api: Api) -> str:
    keys = [{"AttributeName": name, "KeyType": kind} for name, kind in (("a", "HASH"), ("b", "HASH"), ("c", "RANGE"))]
    index = {"IndexName": "several", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    types = {"pk": "S", "a": "S", "b": "S", "c": "S"}
    return api.shared_table("several", shape(("pk",), types, GlobalSecondaryIndexes=[index]))


SEVERAL = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
)
MALFORMED = "Statement wasn't well formed, can't be processed: "
MANY = {
    "part of the key": ("* FROM {} WHERE a = 'x'", SEVERAL),
    "an order": ("pk FROM {} WHERE a = 'x' AND b = 'x' ORDER BY c DESC", SEVERAL),
    "a key of another type": ("* FROM {} WHERE a = 5", SEVERAL),
    "no key": ("* FROM {} WHERE pk = 'x'", SEVERAL),
    "no condition": ("* FROM {}", SEVERAL),
    "a count": ("COUNT(*) FROM {}", SEVERAL),
    "grammar": ("* FROM {} WHERE", f"{MALFORMED}Unexpected term"),
    "a number": ("* FROM {} WHERE a = 1e99999999999", MALFORMED),
}


@probe(rule=30, tier=3, cases=MANY)
def an_index_with_several_key_attributes_is_not_selected(api: Api, rest: str, message: str) -> None:
    """Only the grammar is checked earlier."""
    named = rest.format(f'"{_many(api)}"."several"')
    refused(api, "ExecuteStatement", Statement=f"SELECT {named}", message=message)


@probe(rule=30, tier=2)
def a_table_with_such_an_index_is_selected_and_written(api: Api) -> None:
    """Statements by the table's own key run; in a batch, only the statement on the index fails."""
    table, key = _many(api), api.new_key()
    pk = key["pk"]["S"]
    api("ExecuteStatement", Statement=f"INSERT INTO \"{table}\" VALUE {{'pk': '{pk}'}}")
    api("ExecuteStatement", Statement=f'UPDATE "{table}" SET d = 1 {_here(api, key)}')
    refused_one, found = _batch(
        api,
        f"SELECT * FROM \"{table}\".\"several\" WHERE a = 'x' AND b = 'x' AND c = 'x'",
        f'SELECT * FROM "{table}" {_here(api, key)}',
    )
    same((refused_one["Error"]["Code"], refused_one["Error"]["Message"]), ("ValidationError", SEVERAL))
    same(found["Item"], {**key, "d": n(1)})


@probe(rule=51, tier=2)
def a_write_returns_no_items(api: Api) -> None:
    """The list is empty even if the statement wrote an item."""
    table, key = api.table("hash"), api.new_key()
    for statement in (
        f"INSERT INTO \"{table}\" VALUE {{'pk': '{key['pk']['S']}'}}",
        f'UPDATE "{table}" SET a = 2 {_here(api, key)}',
        f'DELETE FROM "{table}" {_here(api, key)}',
        f'DELETE FROM "{table}" {_here(api, key)}',
    ):
        same(api("ExecuteStatement", Statement=statement).get("Items"), [])


@probe(rule=51, tier=2)
def a_transaction_of_writes_tells_its_capacity(api: Api) -> None:
    """The list of responses is empty nevertheless."""
    table, key = api.table("hash"), api.new_key()
    api.put("hash", key)
    statements = [{"Statement": f'UPDATE "{table}" SET a = 3 {_here(api, key)}'}]
    response = api("ExecuteTransaction", TransactStatements=statements, ReturnConsumedCapacity="TOTAL")
    same((response.get("Responses"), response["ConsumedCapacity"][0]["TableName"]), ([], table))


CHANGES = {
    "a set": "UPDATE {table} SET a = set_add(a, <<'t'>>) {here}",
    "from first": "FROM {table} {here} SET a = <<'t'>>",
    "a function": "UPDATE {table} SET a = <<'t'>> {here} AND attribute_not_exists(a)",
}


@probe(rule=51, tier=2, cases={name: (text,) for name, text in CHANGES.items()})
def a_change_runs_among_others_too(api: Api, statement: str) -> None:
    """The change is part of a transaction, and of a batch."""
    keys = [api.new_key(), api.new_key()]
    for key in keys:
        api.put("hash", key)
    first, second = (statement.format(table=f'"{api.table("hash")}"', here=_here(api, key)) for key in keys)
    api("ExecuteTransaction", TransactStatements=[{"Statement": first}])
    (response,) = _batch(api, second)
    same("Error" in response, False)
    same([api.get("hash", key) for key in keys], [{**key, "a": {"SS": ["t"]}} for key in keys])


@probe(rule=51, tier=3)
def a_parameter_that_is_no_number_is_refused_among_others(api: Api) -> None:
    """A transaction is refused as a whole; in a batch, only the statement with the parameter fails."""
    given: Json = {
        "Statement": f'UPDATE "{api.table("hash")}" SET n = ? {_here(api, api.new_key())}',
        "Parameters": [n("1e99999999999")],
    }
    message = "The parameter cannot be converted to a numeric value: 1e99999999999"
    refused(api, "ExecuteTransaction", TransactStatements=[given], message=message)
    (response,) = api("BatchExecuteStatement", Statements=[given])["Responses"]
    same((response["Error"]["Code"], response["Error"]["Message"]), ("ValidationError", message))


@probe(rule=51, tier=3, cases={"an index": ("indexed", '"all"', "g = 'x'"), "a function": ("hash", "", "size(a) = 1")})
def a_select_in_a_batch_names_its_key_alone(api: Api, shape_name: str, index: str, condition: str) -> None:
    """The SELECT must not use an index, or have conditions other than the key."""
    source = f'"{api.table(shape_name)}"' + (f".{index}" if index else "")
    where = condition if index else f"pk = 'x' AND {condition}"
    (response,) = _batch(api, f"SELECT * FROM {source} WHERE {where}")
    same(response["Error"]["Message"], NEEDS_KEY.format("BatchExecuteStatement"))


@probe(rule=30, tier=3)
def a_parameter_that_is_no_number_is_told_before_such_an_index(api: Api) -> None:
    """Errors of the grammar are reported first, too."""
    statement = f'SELECT * FROM "{_many(api)}"."several" WHERE a = ?'
    message = "The parameter cannot be converted to a numeric value: 1e99999999999"
    refused(api, "ExecuteStatement", Statement=statement, Parameters=[n("1e99999999999")], message=message)


@probe(rule=51, tier=3, cases={"40 levels": (40,), "100 levels": (100,)})
def a_parameter_that_is_too_deep_is_refused_among_others(api: Api, levels: int) -> None:
    """The parameter is reported before a later one that is not a number."""
    given: Json = {
        "Statement": f'UPDATE "{api.table("hash")}" SET x = ? SET y = ? {_here(api, api.new_key())}',
        "Parameters": [nested(levels), n("abc")],
    }
    message = (
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
        "beyond supported limit"
    )
    refused(api, "ExecuteTransaction", TransactStatements=[given], message=message)
    (response,) = api("BatchExecuteStatement", Statements=[given])["Responses"]
    same((response["Error"]["Code"], response["Error"]["Message"]), ("ValidationError", message))


@probe(rule=45, tier=3)
def an_empty_list_of_parameters_is_refused(api: Api) -> None:
    """A statement without parameters has no list."""
    message = "1 validation error detected: Value '[]' at 'parameters' failed to satisfy constraint: "
    statement = f'SELECT * FROM "{api.table("hash")}"'
    rule = "Member must have length greater than or equal to 1"
    refused(api, "ExecuteStatement", message=message + rule, Statement=statement, Parameters=[])
