"""PartiQL: numbers, comments, conditions and changes."""

# ruff: noqa: S608 - the statements have no user input

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json, n, s

WRONG_TYPE = "An operand in the update expression has an incorrect data type"
FAILED = "ConditionalCheckFailedException"


def _run(api: Api, statement: str, *parameters: Json, **others: Any) -> list[Json]:
    given = {"Parameters": list(parameters)} if parameters else {}
    items: list[Json] = api("ExecuteStatement", Statement=statement, **given, **others)["Items"]
    return items


def _named(api: Api, statement: str, key: str = "") -> str:
    """Return the statement with `{hash}` and `{pair}` replaced by the names of the tables, and `{key}` by the key."""
    for shape in ("hash", "pair"):
        statement = statement.replace(f"{{{shape}}}", f'"{api.table(shape)}"')
    return statement.replace("{key}", key)


def _item(api: Api) -> tuple[str, Json]:
    """Put a new item with a value of nearly every type; return the text of its key, and the item."""
    key = api.new_key()
    item = {
        **key,
        "s": s("str"),
        "n": n(5),
        "flag": {"BOOL": True},
        "nul": {"NULL": True},
        "l": {"L": [s("x"), n(1)]},
        "m": {"M": {"sub": s("x"), "deep": {"L": [{"M": {"y": n(1)}}]}}},
        "ss": {"SS": ["a", "b", "c"]},
        "ns": {"NS": ["1", "2", "3"]},
    }
    api.put("hash", item)
    return key["pk"]["S"], item


NUMBERS = {text: (text,) for text in (".731e7", "7.31e6", "7.31E6", "7.31e+6", "731e4", "73100000e-1")}


@probe(rule=50, tier=2, cases=NUMBERS)
def a_number_is_written_with_an_exponent(api: Api, literal: str) -> None:
    """The same literals are valid in a condition and in an item."""
    key = api.new_key()["pk"]["S"]
    _run(api, _named(api, f"INSERT INTO {{hash}} VALUE {{'pk': '{key}', 'n': {literal}}}"))
    found = _run(api, _named(api, f"SELECT n FROM {{hash}} WHERE pk = '{key}' AND n = {literal}"))
    same(found, [{"n": n(7310000)}])


COMMENTS = {
    "after": ("SELECT pk FROM {hash} WHERE pk = '{key}' -- a note",),
    "between": ("SELECT pk FROM {hash} -- a note\nWHERE pk = '{key}'",),
    "before": ("-- a note\nSELECT pk FROM {hash} WHERE pk = '{key}'",),
    "block": ("SELECT pk FROM {hash} /* a note */ WHERE pk = '{key}' /* a note */",),
}


@probe(rule=50, tier=2, cases=COMMENTS)
def a_comment_says_nothing(api: Api, statement: str) -> None:
    """A comment may be anywhere in the statement."""
    key, _ = _item(api)
    same(_run(api, _named(api, statement, key)), [{"pk": s(key)}])


TRUE = (
    "attribute_exists(ss)",
    "ATTRIBUTE_EXISTS(ss)",
    'attribute_exists("ss")',
    "attribute_exists(m.sub)",
    "attribute_exists(m.deep[0].y)",
    "attribute_not_exists(nope)",
    "NOT attribute_exists(nope)",
    "(attribute_exists(nope) OR attribute_exists(ss))",
    "attribute_exists(ss) = true",
    "size(s) = 3",
    "attribute_type(ss, 'SS')",
    "begins_with(s, 'st')",
    "NOT begins_with(s, 'x')",
    "contains(ss, 'a')",
    "nul IS NULL",
    "s IS NOT NULL",
    "nope IS MISSING",
    "s IS NOT MISSING",
    "flag IS BOOL",
    "s IS STRING",
    "n IN [4, 5]",
    "n IN (4, 5)",
    "n BETWEEN 4 AND 6 AND s = 'str'",
    "NOT n = 4",
    "n <> 4 AND NOT (n = 6 OR n = 7)",
)
FALSE = (
    "attribute_exists(nope)",
    "attribute_exists(m.nope)",
    "attribute_not_exists(ss)",
    "size(s) = 4",
    "attribute_type(ss, 'S')",
    "s IS NULL",
    "nul IS NOT NULL",
    "s IS BOOL",
)


@probe(rule=50, tier=2, cases={text: (text, found) for texts, found in ((TRUE, 1), (FALSE, 0)) for text in texts})
def a_condition_filters_a_select(api: Api, condition: str, found: int) -> None:
    """The condition is a function, a comparison, a type test, or several of them."""
    key, _ = _item(api)
    same(len(_run(api, _named(api, f"SELECT * FROM {{hash}} WHERE pk = '{key}' AND {condition}"))), found)


COMPARED: dict[str, tuple[str, Json, bool]] = {
    "a set": ("ss", {"SS": ["c", "a", "b"]}, True),
    "another set": ("ss", {"SS": ["a", "b", "d"]}, False),
    "a set of numbers": ("ns", {"NS": ["3", "1", "2"]}, True),
    "a map": ("m", {"M": {"deep": {"L": [{"M": {"y": n(1)}}]}, "sub": s("x")}}, True),
    "another map": ("m", {"M": {"sub": s("x")}}, False),
    "a set for a text": ("s", {"BS": ["AQ=="]}, False),
    "a list": ("l", {"L": [s("x"), n("1.0")]}, True),
    "a list in another order": ("l", {"L": [n(1), s("x")]}, False),
    "null": ("nul", {"NULL": True}, True),
    "true": ("flag", {"BOOL": True}, True),
    "another type": ("flag", s("true"), False),
}


@probe(rule=50, tier=2, cases=COMPARED)
def any_type_is_compared(api: Api, name: str, value: Json, equal: bool) -> None:  # noqa: FBT001 - a case
    """Equality depends on the value; `<>` is the opposite of `=`."""
    key, _ = _item(api)
    for sign, found in (("=", equal), ("<>", not equal)):
        statement = _named(api, f"SELECT pk FROM {{hash}} WHERE pk = '{key}' AND {name} {sign} ?")
        same(len(_run(api, statement, value)), int(found))


WITHOUT_ORDER: dict[str, tuple[str, Json, str]] = {
    **{
        kind: ("<", {kind: value}, kind)
        for kind, value in {
            "BOOL": True,
            "NULL": True,
            "L": [s("a")],
            "M": {"a": s("b")},
            "SS": ["a"],
            "NS": ["1"],
            "BS": ["AQ=="],
        }.items()
    },
    **{sign: (sign, {"BOOL": True}, "BOOL") for sign in ("<=", ">", ">=", "BETWEEN")},
}


@probe(rule=50, tier=2, cases=WITHOUT_ORDER)
def an_operand_without_an_order_is_refused(api: Api, sign: str, value: Json, kind: str) -> None:
    """The values of the item do not matter; `=` and `<>` accept the operand."""
    key, _ = _item(api)
    start = _named(api, f"SELECT pk FROM {{hash}} WHERE pk = '{key}' AND ")
    operands = "? AND ?" if sign == "BETWEEN" else "?"
    message = "Incorrect operand type for operator or function; operator or function: "
    refused(
        api,
        "ExecuteStatement",
        message=f"{message}{sign}, operand type: {kind}",
        Statement=f"{start}s {sign} {operands}",
        Parameters=[value] * operands.count("?"),
    )
    same((_run(api, f"{start}s = ?", value), _run(api, f"{start}s <> ?", value)), ([], [{"pk": s(key)}]))


@probe(rule=50, tier=2)
def texts_numbers_and_binaries_have_an_order(api: Api) -> None:
    """Each type has a separate order; a value of another type is neither less nor greater."""
    key = api.new_key()
    api.put("hash", {**key, "b": {"B": "AQID"}, "s": s("x")})
    start = _named(api, f"SELECT pk FROM {{hash}} WHERE pk = '{key['pk']['S']}' AND ")
    found = [len(_run(api, f"{start}b {sign} ?", {"B": "AQIE"})) for sign in "<>"]
    same((found, _run(api, f"{start}s < ?", n(5))), ([1, 0], []))


@probe(rule=50, tier=2)
def a_document_decides_a_write(api: Api) -> None:
    """The condition compares a set, in any order, and a map."""
    key, _ = _item(api)
    _run(api, _named(api, "UPDATE {hash} SET z = 1 WHERE pk = '{key}' AND ss = ?", key), {"SS": ["b", "c", "a"]})
    statement = _named(api, "UPDATE {hash} SET z = 2 WHERE pk = '{key}' AND m = ?", key)
    refused(api, "ExecuteStatement", kind=FAILED, Statement=statement, Parameters=[{"M": {"sub": s("x")}}])
    same((api.get("hash", {"pk": s(key)}) or {}).get("z"), n(1))


@probe(rule=50, tier=2)
def a_select_without_a_key_filters_all(api: Api) -> None:
    """The table is scanned page by page."""
    key = api.new_key()
    mark = key["pk"]["S"]
    api.put("hash", {**key, f"mark{mark}": s("x")})
    statement, found = _named(api, f"SELECT pk FROM {{hash}} WHERE attribute_exists(mark{mark})"), []
    token: dict[str, str] = {}
    while True:
        page = api("ExecuteStatement", Statement=statement, ConsistentRead=True, **token)
        found += page["Items"]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    same(found, [key])


@probe(rule=50, tier=2)
def a_condition_decides_a_write(api: Api) -> None:
    """The condition works like that of UpdateItem."""
    key, item = _item(api)
    for statement in (
        "UPDATE {hash} SET z = 2 WHERE pk = '{key}' AND attribute_exists(nope)",
        "DELETE FROM {hash} WHERE pk = '{key}' AND attribute_exists(nope)",
        "UPDATE {hash} SET z = 2 WHERE pk = 'none' AND attribute_not_exists(pk)",
    ):
        refused(api, "ExecuteStatement", kind=FAILED, Statement=_named(api, statement, key))
    same(api.get("hash", {"pk": s(key)}), item)
    _run(api, _named(api, "UPDATE {hash} SET z = 1 WHERE pk = '{key}' AND attribute_exists(s)", key))
    same(api.get("hash", {"pk": s(key)}), {**item, "z": n(1)})
    _run(api, _named(api, "DELETE FROM {hash} WHERE pk = '{key}' AND attribute_not_exists(nope)", key))
    same(api.get("hash", {"pk": s(key)}), None)


@probe(rule=50, tier=2)
def a_delete_of_what_is_not_there_requires_nothing(api: Api) -> None:
    """The delete succeeds whatever other conditions the WHERE clause has."""
    same(_run(api, _named(api, "DELETE FROM {hash} WHERE pk = '{key}' AND s = 'x'", api.new_key()["pk"]["S"])), [])


@probe(rule=50, tier=2)
def from_may_stand_first(api: Api) -> None:
    """After FROM and WHERE, there may be SET, REMOVE, further conditions, parameters and RETURNING."""
    key, item = _item(api)
    _run(api, _named(api, "FROM {hash} WHERE pk = '{key}' AND n = 5 SET c = 1 REMOVE s", key))
    found = _run(api, _named(api, "from {hash} where pk = ? set d = ? returning all new *"), s(key), n(7))
    same(found, [{**{name: value for name, value in item.items() if name != "s"}, "c": n(1), "d": n(7)}])
    failing = _named(api, "FROM {hash} WHERE pk = '{key}' AND n = 6 SET c = 2", key)
    refused(api, "ExecuteStatement", kind=FAILED, Statement=failing)
    missing = _named(api, "FROM {hash} WHERE pk = '{key}' SET c = 2", api.new_key()["pk"]["S"])
    refused(api, "ExecuteStatement", kind=FAILED, Statement=missing)


SETS: dict[str, tuple[str, str, Json, Json | None]] = {
    "one that is there": ("ss", "set_add", {"SS": ["a"]}, {"SS": ["a", "b", "c"]}),
    "a number": ("ns", "set_add", {"NS": ["4", "1"]}, {"NS": ["1", "2", "3", "4"]}),
    "a binary": ("bs", "set_add", {"BS": ["AQ=="]}, {"BS": ["AQ=="]}),
    "one that is taken out": ("ss", "set_delete", {"SS": ["a"]}, {"SS": ["b", "c"]}),
    "one that is not there": ("ss", "set_delete", {"SS": ["zz"]}, {"SS": ["a", "b", "c"]}),
    "all": ("ss", "set_delete", {"SS": ["a", "b", "c"]}, None),
    "one of no set": ("none", "set_delete", {"SS": ["a"]}, None),
}


@probe(rule=50, tier=2, cases=SETS)
def a_set_is_changed_by_a_parameter(api: Api, name: str, function: str, members: Json, left: Json | None) -> None:
    """RETURNING returns the remaining members."""
    key, _ = _item(api)
    statement = f"UPDATE {{hash}} SET {name} = {function}({name}, ?) WHERE pk = '{key}' RETURNING ALL NEW *"
    (found,) = _run(api, _named(api, statement), members)
    same(found.get(name), left)


@probe(rule=50, tier=2)
def a_set_of_a_missing_item_is_not_made(api: Api) -> None:
    """The implicit condition that the item exists fails."""
    key = api.new_key()
    statement = _named(api, "UPDATE {hash} SET ss = set_add(ss, <<'x'>>) WHERE pk = '{key}'", key["pk"]["S"])
    refused(api, "ExecuteStatement", kind=FAILED, Statement=statement)
    same(api.get("hash", key), None)


@probe(rule=50, tier=2)
def members_are_added_to_a_set_and_taken_out(api: Api) -> None:
    """Members are literals or parameters; a missing set is created, and an empty one removed."""
    key, _ = _item(api)
    _run(
        api,
        _named(api, "UPDATE {hash} SET ss = set_add(ss, <<'0', 'a'>>) SET o = SET_ADD(o, ?) WHERE pk = '{key}'", key),
        {"NS": ["1"]},
    )
    _run(api, _named(api, "UPDATE {hash} SET ns = set_delete(ns, <<1, 2, 3>>) WHERE pk = '{key}'", key))
    found = api.get("hash", {"pk": s(key)}) or {}
    same((sorted(found["ss"]["SS"]), found["o"], "ns" in found), (["0", "a", "b", "c"], {"NS": ["1"]}, False))


@probe(rule=50, tier=2)
def a_change_reaches_into_documents(api: Api) -> None:
    """Elements of maps and lists are changed."""
    key, _ = _item(api)
    statement = (
        "UPDATE {hash} SET m.deep[0].y = m.deep[0].y + 1, l = list_append(l, ['z']) REMOVE m.sub WHERE pk = '{key}'"
    )
    _run(api, _named(api, statement, key))
    found = api.get("hash", {"pk": s(key)}) or {}
    same(found["m"], {"M": {"deep": {"L": [{"M": {"y": n(2)}}]}}})
    same(found["l"], {"L": [s("x"), n(1), s("z")]})


@probe(rule=50, tier=3, cases={"a number to texts": ("ss", "<<1>>"), "a text to a text": ("s", "<<'x'>>")})
def a_set_of_another_type_is_refused(api: Api, name: str, members: str) -> None:
    """Both functions check the type if the item exists."""
    key, _ = _item(api)
    for function in ("set_add", "set_delete"):
        statement = _named(api, f"UPDATE {{hash}} SET {name} = {function}({name}, {members}) WHERE pk = '{key}'")
        refused(api, "ExecuteStatement", Statement=statement, message=WRONG_TYPE)


BRANCHES = {
    "not equal": ("NOT sk = '1'", ["2", "3"]),
    "different": ("sk <> '1'", ["2", "3"]),
    "no prefix": ("NOT begins_with(sk, 'x')", ["1", "2", "3"]),
    "not in": ("NOT sk IN ['1', '3']", ["2"]),
    "wrapped": ("NOT (sk = '1')", ["2", "3"]),
    "not above": ("NOT sk > '5'", ["1", "2", "3"]),
}


@probe(rule=50, tier=2, cases=BRANCHES)
def a_branch_that_excludes_sort_keys_runs(api: Api, condition: str, found: list[str]) -> None:
    """The other branch names a sort key of the same partition."""
    key = api.new_key("1")
    for sort in "123":
        api.put("pair", {**key, "sk": s(sort)})
    pk = f"pk = '{key['pk']['S']}'"
    items = _run(api, _named(api, f"SELECT * FROM {{pair}} WHERE {pk} AND {condition} OR {pk} AND sk = '2'"))
    same(sorted(item["sk"]["S"] for item in items), found)


@probe(rule=50, tier=3)
def a_token_belongs_to_its_statement(api: Api) -> None:
    """A different statement refuses the token."""
    key = api.new_key("1")
    for sort in "12":
        api.put("pair", {**key, "sk": s(sort)})
    statement = _named(api, f"SELECT * FROM {{pair}} WHERE pk = '{key['pk']['S']}'")
    first = api("ExecuteStatement", Statement=statement, Limit=1)
    holds("NextToken" in first, "a page that is full has no NextToken")
    other = statement.replace("*", "sk")
    message = "NextToken does not match request"
    refused(api, "ExecuteStatement", Statement=other, NextToken=first["NextToken"], message=message)


@probe(rule=50, tier=2)
def a_branch_of_a_whole_partition_runs(api: Api) -> None:
    """The other branch excludes a sort key of the same partition; each item is returned once."""
    key = api.new_key("1")
    for sort in "123":
        api.put("pair", {**key, "sk": s(sort)})
    pk = f"pk = '{key['pk']['S']}'"
    items = _run(api, _named(api, f"SELECT * FROM {{pair}} WHERE {pk} OR {pk} AND NOT sk = '1'"))
    same(sorted(item["sk"]["S"] for item in items), ["1", "2", "3"])


@probe(rule=50, tier=2, cases={"ASC": ("ASC", ["1", "2", "3"]), "DESC": ("DESC", ["3", "2", "1"])})
def a_select_has_an_order(api: Api, direction: str, found: list[str]) -> None:
    """Items are ordered by the sort key."""
    key = api.new_key("1")
    for sort in "213":
        api.put("pair", {**key, "sk": s(sort)})
    statement = f"SELECT * FROM {{pair}} WHERE pk = '{key['pk']['S']}' ORDER BY sk {direction}"
    same([item["sk"]["S"] for item in _run(api, _named(api, statement))], found)


@probe(rule=50, tier=2)
def a_statement_that_is_refused_changes_nothing(api: Api) -> None:
    """Each has an alias, an ORDER BY or an extra word."""
    key, item = _item(api)
    for statement in (
        "DELETE FROM {hash} t WHERE pk = '{key}'",
        "DELETE FROM {hash} WHERE pk = '{key}' ORDER BY pk",
        "INSERT INTO {hash} VALUE {'pk': '{key}-new'} foo",
    ):
        refused(api, "ExecuteStatement", Statement=_named(api, statement, key))
    same((api.get("hash", {"pk": s(key)}), api.get("hash", {"pk": s(f"{key}-new")})), (item, None))


@probe(rule=50, tier=2)
def a_negative_number_needs_no_whole_part(api: Api) -> None:
    """The same literal is valid in a condition and in an item."""
    key = api.new_key()["pk"]["S"]
    _run(api, _named(api, f"INSERT INTO {{hash}} VALUE {{'pk': '{key}', 'n': -.73e1}}"))
    same(_run(api, _named(api, f"SELECT n FROM {{hash}} WHERE pk = '{key}' AND n = -.73e1")), [{"n": n("-7.3")}])
