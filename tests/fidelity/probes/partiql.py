"""PartiQL: grammar, conditions, changes, and what is refused."""

# ruff: noqa: S608 - the statements are the probes' own

from __future__ import annotations

import re
from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json, n, s

MALFORMED = "Statement wasn't well formed, can't be processed: "
LEFT_OVER = f"{MALFORMED}Unexpected token after expression"
NO_KEY = "Where clause does not contain a mandatory equality on all key attributes"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
FAILED = "ConditionalCheckFailedException"


def _run(api: Api, statement: str, *parameters: Json, **others: Any) -> list[Json]:
    given = {"Parameters": list(parameters)} if parameters else {}
    items: list[Json] = api("ExecuteStatement", Statement=statement, **given, **others)["Items"]
    return items


def _named(api: Api, statement: str, key: str = "") -> str:
    """The statement with `{hash}` and `{pair}` for the tables, and `{key}`."""
    for shape in ("hash", "pair"):
        statement = statement.replace(f"{{{shape}}}", f'"{api.table(shape)}"')
    return statement.replace("{key}", key)


def _placed(message: str, statement: str) -> str:
    """The message with the place of the token that is named in angle brackets."""
    found = re.search(r"<(\w+)>$", message)
    if found is None:
        return message
    column = statement.rindex(found[1]) + 1 if found[1] == "ss" else statement.index(found[1]) + 1
    return message.replace(found[0], f"1:{column}:{len(found[1])}")


def _item(api: Api) -> tuple[str, Json]:
    """A new item with a value of each type, and the text of its key."""
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


NUMBERS = {text: (text,) for text in ("7.31e6", "7.31E6", "7.31e+6", "731e4", "73100000e-1")}


@probe(rule=50, tier=2, cases=NUMBERS)
def a_number_is_written_with_an_exponent(api: Api, literal: str) -> None:
    """In a condition and in an item."""
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
    """Wherever it stands."""
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
    """A function, a type test, or several of them."""
    key, _ = _item(api)
    same(len(_run(api, _named(api, f"SELECT * FROM {{hash}} WHERE pk = '{key}' AND {condition}"))), found)


COMPARED: dict[str, tuple[str, Json, bool]] = {
    "a set": ("ss", {"SS": ["c", "a", "b"]}, True),
    "another set": ("ss", {"SS": ["a", "b", "d"]}, False),
    "a list": ("l", {"L": [s("x"), n("1.0")]}, True),
    "a list in another order": ("l", {"L": [n(1), s("x")]}, False),
    "null": ("nul", {"NULL": True}, True),
    "true": ("flag", {"BOOL": True}, True),
    "another type": ("flag", s("true"), False),
}


@probe(rule=50, tier=2, cases=COMPARED)
def any_type_is_compared(api: Api, name: str, value: Json, equal: bool) -> None:  # noqa: FBT001 - one of a case
    """By value; `<>` is the contrary."""
    key, _ = _item(api)
    for sign, found in (("=", equal), ("<>", not equal)):
        statement = _named(api, f"SELECT pk FROM {{hash}} WHERE pk = '{key}' AND {name} {sign} ?")
        same(len(_run(api, statement, value)), int(found))


@probe(rule=50, tier=2)
def a_condition_decides_a_write(api: Api) -> None:
    """As a condition of UpdateItem would."""
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
    """Whatever else is in its WHERE."""
    same(_run(api, _named(api, "DELETE FROM {hash} WHERE pk = '{key}' AND s = 'x'", api.new_key()["pk"]["S"])), [])


@probe(rule=50, tier=2)
def from_may_stand_first(api: Api) -> None:
    """With SET, REMOVE, a further condition, parameters and RETURNING."""
    key, item = _item(api)
    _run(api, _named(api, "FROM {hash} WHERE pk = '{key}' AND n = 5 SET c = 1 REMOVE s", key))
    found = _run(api, _named(api, "from {hash} where pk = ? set d = ? returning all new *"), s(key), n(7))
    same(found, [{**{name: value for name, value in item.items() if name != "s"}, "c": n(1), "d": n(7)}])
    failing = _named(api, "FROM {hash} WHERE pk = '{key}' AND n = 6 SET c = 2", key)
    refused(api, "ExecuteStatement", kind=FAILED, Statement=failing)


@probe(rule=50, tier=2)
def members_are_added_to_a_set_and_taken_out(api: Api) -> None:
    """By a literal and by a parameter; a set that is not there is made, and an empty one removed."""
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
    """Maps and lists."""
    key, _ = _item(api)
    statement = (
        "UPDATE {hash} SET m.deep[0].y = m.deep[0].y + 1, l = list_append(l, ['z']) REMOVE m.sub WHERE pk = '{key}'"
    )
    _run(api, _named(api, statement, key))
    found = api.get("hash", {"pk": s(key)}) or {}
    same(found["m"], {"M": {"deep": {"L": [{"M": {"y": n(2)}}]}}})
    same(found["l"], {"L": [s("x"), n(1), s("z")]})


REFUSED: dict[str, tuple[str, str]] = {
    "a token is left": ("SELECT * FROM {hash} WHERE pk = '1' foo", LEFT_OVER),
    "a token is left after an insert": ("INSERT INTO {hash} VALUE {'pk': '1'} foo", LEFT_OVER),
    "an order of a delete": ("DELETE FROM {hash} WHERE pk = '1' ORDER BY pk", LEFT_OVER),
    "a parenthesis is left": ("SELECT * FROM {hash} WHERE pk = '1')", LEFT_OVER),
    "an alias of an insert": ("INSERT INTO {hash} t VALUE {'pk': '1'}", LEFT_OVER),
    "where after set": ("FROM {hash} SET c = 1 WHERE pk = '1'", LEFT_OVER),
    "an exponent of more than 32 bits": ("SELECT * FROM {hash} WHERE n = 1e2147483648", MALFORMED),
    "a scale of more than 32 bits": ("SELECT * FROM {hash} WHERE n = 1.5e-2147483647", MALFORMED),
    "a comment by a hash": ("SELECT * FROM {hash} WHERE pk = '1' # note", MALFORMED),
    "an open comment": ("SELECT * FROM {hash} WHERE pk = '1' /* note", MALFORMED),
    "no condition": ("SELECT * FROM {hash} WHERE", f"{MALFORMED}Unexpected term"),
    "no condition of a delete": ("DELETE FROM {hash} WHERE", f"{MALFORMED}Unexpected term"),
    "nothing after not": ("SELECT * FROM {hash} WHERE NOT", f"{MALFORMED}Unexpected term"),
    "no table": ("SELECT * FROM", f"{MALFORMED}Unexpected term"),
    "no table of a delete": ("DELETE FROM", f"{MALFORMED}Expected identifier for simple path"),
    "nothing after and": (
        "SELECT * FROM {hash} WHERE pk = '1' AND",
        f"{MALFORMED}Missing right-hand side expression of infix operator",
    ),
    "an order for a condition": ("SELECT * FROM {hash} WHERE ORDER BY pk", f"{MALFORMED}Unexpected keyword"),
    "is for a condition": ("SELECT * FROM {hash} WHERE IS NULL", f"{MALFORMED}Unexpected operator"),
    "like for an operand": ("SELECT * FROM {hash} WHERE pk = LIKE", f"{MALFORMED}Unexpected operator"),
    "no type": ("SELECT * FROM {hash} WHERE pk = '1' AND x IS FOO", f"{MALFORMED}Expected type name"),
    "a keyword in a path": (
        "SELECT * FROM {hash} WHERE pk = '1' AND attribute_exists(m.inner)",
        f"{MALFORMED}Invalid path dot component",
    ),
    "an expression alone": ("x IS INT4", "Unsupported operation: IsType"),
    "an alias": ("SELECT * FROM {hash} t WHERE pk = '1'", "Aliasing is not supported"),
    "an alias by as": ("SELECT * FROM {hash} AS t WHERE pk = '1'", "Aliasing is not supported"),
    "an alias of an update": ("UPDATE {hash} t SET a = 3 WHERE pk = '1'", "Aliasing is not supported"),
    "too great a number": ("SELECT * FROM {hash} WHERE n = 1e126", f"{OVERFLOW} under root"),
    "too small a number": ("UPDATE {hash} SET a = 1e-131 WHERE pk = '1'", f"{UNDERFLOW} under root"),
    "too great a number in a map": (
        "INSERT INTO {hash} VALUE {'pk': '1', 'm': {'x': 1e126}}",
        f"{OVERFLOW} under root.x",
    ),
    "too great a number in a list": (
        "INSERT INTO {hash} VALUE {'pk': '1', 'l': [1, 1e126]}",
        f"{OVERFLOW} under root[1]",
    ),
    "no key of an update": ("FROM {hash} SET c = 1", NO_KEY),
    "another key of a delete": ("DELETE FROM {hash} WHERE a = 1", NO_KEY),
    "an empty name": ("SELECT * FROM \"\" WHERE pk = '1'", "Path component cannot be an empty string"),
    "three names": ("SELECT * FROM {hash}.a.b", "A path may contain at most 2 components in the FROM clause"),
    "an index of an update": (
        "UPDATE {hash}.i SET a = 1 WHERE pk = '1'",
        "This operation is not supported on an index",
    ),
    "a count": ("SELECT COUNT(*) FROM {hash}", "Unexpected path component at <COUNT>"),
    "a function for a column": (
        "SELECT attribute_exists(ss) FROM {hash}",
        "Unexpected path component at <attribute_exists>",
    ),
    "exists of a path": ("SELECT * FROM {hash} WHERE EXISTS(ss)", "Unrecognized function: exists at <EXISTS>"),
    "a function of sets in a condition": (
        "SELECT * FROM {hash} WHERE set_add(ss, <<'x'>>) = ss",
        "Unrecognized function: set_add at <set_add>",
    ),
    "a function of sets in an insert": (
        "INSERT INTO {hash} VALUE {'pk': '1', 'ss': set_add(<<'a'>>, <<'b'>>)}",
        "Unsupported data type: set_add under key root at <set_add>",
    ),
    "a literal for a path": (
        "SELECT * FROM {hash} WHERE attribute_exists('ss')",
        "Operator or function requires a document path; operator or function: attribute_exists",
    ),
    "two operands": (
        "SELECT * FROM {hash} WHERE attribute_exists(ss, ns)",
        (
            "Incorrect number of operands for operator or function; "
            "operator or function: attribute_exists, number of operands: 2"
        ),
    ),
    "an operand without an order": (
        "SELECT pk FROM {hash} WHERE pk = '1' AND v < true",
        "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
    ),
    "a set of another attribute": (
        "UPDATE {hash} SET t = set_add(ss, <<'x'>>) WHERE pk = '1'",
        "The first argument to SET_ADD must equal the assignment value at <set_add>",
    ),
    "a text added to a set": (
        "UPDATE {hash} SET ss = set_add(ss, 'x') WHERE pk = '1'",
        "The second argument to SET_ADD must be a value with type SET at <ss>",
    ),
    "one argument": (
        "UPDATE {hash} SET ss = set_delete(ss) WHERE pk = '1'",
        "SET_DELETE must have exactly two arguments at <set_delete>",
    ),
    "an empty bag": ("UPDATE {hash} SET ss = set_add(ss, <<>>) WHERE pk = '1'", "Empty bags are not supported"),
    "a repeated member": (
        "UPDATE {hash} SET ss = set_add(ss, <<'x', 'x'>>) WHERE pk = '1'",
        "One or more parameter values were invalid: Input collection [x, x] contains duplicates.",
    ),
    "a return of a delete": (
        "DELETE FROM {hash} WHERE pk = '1' RETURNING ALL NEW *",
        "Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
    ),
    "branches that meet": (
        "SELECT * FROM {pair} WHERE pk = 'a' AND x = '1' OR pk = 'a' AND sk = '2'",
        "Overlapping conditions with range keys are not supported in where clause",
    ),
}


@probe(rule=50, tier=3, cases=REFUSED)
def a_statement_is_refused(api: Api, statement: str, message: str) -> None:
    """In these words."""
    named = _named(api, statement)
    refused(api, "ExecuteStatement", Statement=named, message=_placed(message, named))


@probe(rule=50, tier=3, cases={"a number to texts": ("ss", "<<1>>"), "a text to a text": ("s", "<<'x'>>")})
def a_set_of_another_type_is_refused(api: Api, name: str, members: str) -> None:
    """When the item is there."""
    key, _ = _item(api)
    statement = _named(api, f"UPDATE {{hash}} SET {name} = set_add({name}, {members}) WHERE pk = '{key}'")
    refused(api, "ExecuteStatement", Statement=statement, message=WRONG_TYPE)


PARAMETERS = {
    **{
        text: (text, f"The parameter cannot be converted to a numeric value: {text}")
        for text in ("1e99999999999", "1e2147483648", "abc")
    },
    "1e2147483647": ("1e2147483647", UNDERFLOW),
    "empty": ("", "The parameter cannot be converted to a numeric value"),
}


@probe(rule=50, tier=3, cases=PARAMETERS)
def a_parameter_that_is_no_number_is_refused(api: Api, text: str, message: str) -> None:
    """In a condition and in an item."""
    for statement in ("SELECT * FROM {hash} WHERE pk = '1' AND n = ?", "INSERT INTO {hash} VALUE {'pk': '1', 'n': ?}"):
        refused(api, "ExecuteStatement", Statement=_named(api, statement), Parameters=[n(text)], message=message)


BRANCHES = {
    "not equal": ("NOT sk = '1'", ["2", "3"]),
    "different": ("sk <> '1'", ["2", "3"]),
    "no prefix": ("NOT begins_with(sk, 'x')", ["1", "2", "3"]),
    "not in": ("NOT sk IN ['1', '3']", ["2"]),
    "not above": ("NOT sk > '5'", ["1", "2", "3"]),
}


@probe(rule=50, tier=2, cases=BRANCHES)
def a_branch_that_excludes_sort_keys_runs(api: Api, condition: str, found: list[str]) -> None:
    """Beside one that names a sort key of the same partition."""
    key = api.new_key("1")
    for sort in "123":
        api.put("pair", {**key, "sk": s(sort)})
    pk = f"pk = '{key['pk']['S']}'"
    items = _run(api, _named(api, f"SELECT * FROM {{pair}} WHERE {pk} AND {condition} OR {pk} AND sk = '2'"))
    same(sorted(item["sk"]["S"] for item in items), found)


@probe(rule=50, tier=3)
def a_token_belongs_to_its_statement(api: Api) -> None:
    """Another statement refuses it."""
    key = api.new_key("1")
    for sort in "12":
        api.put("pair", {**key, "sk": s(sort)})
    statement = _named(api, f"SELECT * FROM {{pair}} WHERE pk = '{key['pk']['S']}'")
    first = api("ExecuteStatement", Statement=statement, Limit=1)
    holds("NextToken" in first, "a page that is full has no NextToken")
    other = statement.replace("*", "sk")
    message = "NextToken does not match request"
    refused(api, "ExecuteStatement", Statement=other, NextToken=first["NextToken"], message=message)
