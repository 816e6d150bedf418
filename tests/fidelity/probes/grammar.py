"""PartiQL's grammar: statements and parameters that are refused, and the messages."""

from __future__ import annotations

import re

from tests.fidelity import Api, probe, refused
from tests.fidelity._attributes import Json, n, nested

MALFORMED = "Statement wasn't well formed, can't be processed: "
LEFT_OVER = f"{MALFORMED}Unexpected token after expression"
NO_KEY = "Where clause does not contain a mandatory equality on all key attributes"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
NOT_NUMERIC = "The parameter cannot be converted to a numeric value"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)


def _named(api: Api, statement: str) -> str:
    """Return the statement with `{hash}` and `{pair}` replaced by the names of the tables."""
    for shape in ("hash", "pair"):
        statement = statement.replace(f"{{{shape}}}", f'"{api.table(shape)}"')
    return statement


def _placed(message: str, statement: str) -> str:
    """Return the message with the token in angle brackets replaced by the token's line, column and length."""
    found = re.search(r"<(\w+)>$", message)
    if found is None:
        return message
    column = statement.rindex(found[1]) + 1 if found[1] == "ss" else statement.index(found[1]) + 1
    return message.replace(found[0], f"1:{column}:{len(found[1])}")


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
    "a token is left after an update": ("UPDATE {hash} SET a = 9 WHERE pk = '1' foo", LEFT_OVER),
    "a token is left after a delete": ("DELETE FROM {hash} WHERE pk = '1' foo", LEFT_OVER),
    "a number apart from its exponent": ("SELECT * FROM {hash} WHERE n = 1 e5", LEFT_OVER),
    "an order before the condition": ("SELECT * FROM {hash} ORDER BY pk WHERE pk = '1'", LEFT_OVER),
    "a change after the condition": ("FROM {hash} SET c = 1 WHERE pk = '1' SET d = 2", LEFT_OVER),
    "an open comment": ("SELECT * FROM {hash} WHERE pk = '1' /* note", MALFORMED),
    "no condition": ("SELECT * FROM {hash} WHERE", f"{MALFORMED}Unexpected term"),
    "no condition of a delete": ("DELETE FROM {hash} WHERE", f"{MALFORMED}Unexpected term"),
    "no condition of an update": ("UPDATE {hash} SET a = 1 WHERE", f"{MALFORMED}Unexpected term"),
    "a semicolon for a condition": ("SELECT pk FROM {hash} WHERE;", f"{MALFORMED}Unexpected term"),
    "an open parenthesis": ("SELECT * FROM {hash} WHERE (", f"{MALFORMED}Unexpected term"),
    "no condition in a missing table": ('SELECT * FROM "nowhere" WHERE', f"{MALFORMED}Unexpected term"),
    "a semicolon for a table": ("DELETE FROM;", f"{MALFORMED}Expected identifier for simple path"),
    "a condition for a table": ("DELETE FROM WHERE pk = 'a'", f"{MALFORMED}Expected identifier for simple path"),
    "nothing after or": (
        "SELECT * FROM {hash} WHERE pk = '1' OR",
        f"{MALFORMED}Missing right-hand side expression of infix operator",
    ),
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
    "a type of two words": ("x IS DOUBLE PRECISION", "Unsupported operation: IsType"),
    "a type of small numbers": ("x IS INT4", "Unsupported operation: IsType"),
    "spaces for a table": ("DELETE FROM   ", f"{MALFORMED}Expected identifier for simple path"),
    "a type of numbers": ("x IS INT8", "Unsupported operation: IsType"),
    "spaces for a condition": ("SELECT * FROM {hash} WHERE   ", f"{MALFORMED}Unexpected term"),
    "too small a number in a condition": ("SELECT * FROM {hash} WHERE n = 1e-131", f"{UNDERFLOW} under root"),
    "a type of texts": ("x IS CHARACTER VARYING", "Unsupported operation: IsType"),
    "an expression alone": ("x IS INT4", "Unsupported operation: IsType"),
    "an alias": ("SELECT * FROM {hash} t WHERE pk = '1'", "Aliasing is not supported"),
    "an alias by as": ("SELECT * FROM {hash} AS t WHERE pk = '1'", "Aliasing is not supported"),
    "an alias of an update": ("UPDATE {hash} t SET a = 3 WHERE pk = '1'", "Aliasing is not supported"),
    "too great a number": ("SELECT * FROM {hash} WHERE n = 1e126", f"{OVERFLOW} under root"),
    "an alias of a delete": ("DELETE FROM {hash} t WHERE pk = '1'", "Aliasing is not supported"),
    "too many digits": (
        "SELECT * FROM {hash} WHERE n = 123456789012345678901234567890123456789",
        "Attempting to store more than 38 significant digits in a Number under root",
    ),
    "too great a key": ("INSERT INTO {hash} VALUE {'pk': 1e126}", f"{OVERFLOW} under root"),
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
    "no key of a removal": ("FROM {hash} REMOVE a", NO_KEY),
    "another key of an update": ("FROM {hash} WHERE a = 1 SET c = 1", NO_KEY),
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
    "no operand": (
        "SELECT * FROM {hash} WHERE attribute_exists()",
        (
            "Incorrect number of operands for operator or function; "
            "operator or function: attribute_exists, number of operands: 0"
        ),
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
    "a set added to a literal": (
        "UPDATE {hash} SET ss = set_add(<<'a'>>, <<'b'>>) WHERE pk = '1'",
        "The first argument to SET_ADD must equal the assignment value at <set_add>",
    ),
    "a set taken out of another attribute": (
        "UPDATE {hash} SET t = set_delete(ss, <<'a'>>) WHERE pk = '1'",
        "The first argument to SET_DELETE must equal the assignment value at <set_delete>",
    ),
    "a list added to a set": (
        "UPDATE {hash} SET ss = set_add(ss, ['x']) WHERE pk = '1'",
        "The second argument to SET_ADD must be a value with type SET at <ss>",
    ),
    "a text taken out of a set": (
        "UPDATE {hash} SET ss = set_delete(ss, 'a') WHERE pk = '1'",
        "The second argument to SET_DELETE must be a value with type SET at <ss>",
    ),
    "three arguments": (
        "UPDATE {hash} SET ss = set_add(ss, <<'x'>>, <<'y'>>) WHERE pk = '1'",
        "SET_ADD must have exactly two arguments at <set_add>",
    ),
    "a keyword in the path of a set": (
        "UPDATE {hash} SET m.inner = set_add(m.inner, <<'y'>>) WHERE pk = '1'",
        f"{MALFORMED}Invalid path dot component",
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
    "branches that meet by what is different": (
        "SELECT * FROM {pair} WHERE pk = 'a' AND x <> '1' OR pk = 'a' AND sk = '2'",
        "Overlapping conditions with range keys are not supported in where clause",
    ),
}


@probe(rule=50, tier=3, cases=REFUSED)
def a_statement_is_refused(api: Api, statement: str, message: str) -> None:
    """The message is exactly the given one."""
    named = _named(api, statement)
    refused(api, "ExecuteStatement", Statement=named, message=_placed(message, named))


PARAMETERS = {
    **{
        text: (text, f"{NOT_NUMERIC}: {text}")
        for text in ("1e99999999999", "-1e99999999999", "1e-99999999999", "1e2147483648", "1e-2147483648", "abc")
    },
    "1e2147483647": ("1e2147483647", UNDERFLOW),
    "empty": ("", NOT_NUMERIC),
}
PLACES = (
    "SELECT * FROM {hash} WHERE pk = '1' AND n = ?",
    "INSERT INTO {hash} VALUE {'pk': '1', 'n': ?}",
    "UPDATE {hash} SET n = ? WHERE pk = '1'",
    "SELECT * FROM {hash} WHERE pk = ?",
)


@probe(rule=50, tier=3, cases=PARAMETERS)
def a_parameter_that_is_no_number_is_refused(api: Api, text: str, message: str) -> None:
    """The parameter is in a condition, an item, a change and a key."""
    for statement in PLACES:
        refused(api, "ExecuteStatement", Statement=_named(api, statement), Parameters=[n(text)], message=message)


BAD, DEEP = n("abc"), nested(40)
FIRST: dict[str, tuple[list[Json], str]] = {
    "in a list": ([{"L": [n(1), BAD]}], f"{NOT_NUMERIC}: abc"),
    "in a map": ([{"M": {"x": BAD}}], f"{NOT_NUMERIC}: abc"),
    "in a set": ([{"NS": ["1", "abc"]}], f"{NOT_NUMERIC}: abc"),
    "too deep, then no number": ([DEEP, BAD], TOO_DEEP),
    "no number, then too deep": ([BAD, DEEP], f"{NOT_NUMERIC}: abc"),
    "too deep, then too great": ([DEEP, n("1e126")], TOO_DEEP),
    "no number in a deep value": ([{"L": [nested(40), {"L": [BAD]}]}], TOO_DEEP),
    "much too deep, then no number": ([nested(100), BAD], TOO_DEEP),
    "no number, then much too deep": ([BAD, nested(100)], f"{NOT_NUMERIC}: abc"),
    "too deep, then no number in one map": ([{"M": {"d": DEEP, "x": BAD}}], TOO_DEEP),
    "no number, then too deep in one map": ([{"M": {"x": BAD, "d": DEEP}}], f"{NOT_NUMERIC}: abc"),
}


@probe(rule=50, tier=3, cases=FIRST)
def the_first_parameter_that_is_wrong_is_named(api: Api, parameters: list[Json], message: str) -> None:
    """The order is that of the document."""
    condition = " AND ".join(f"{name} = ?" for name, _ in zip("xy", parameters, strict=False))
    statement = _named(api, f"SELECT * FROM {{hash}} WHERE pk = '1' AND {condition}")  # noqa: S608 - no user input
    refused(api, "ExecuteStatement", Statement=statement, Parameters=parameters, message=message)


@probe(rule=50, tier=3)
def a_parameter_is_no_path(api: Api) -> None:
    """A function that needs a path refuses a parameter."""
    statement = _named(api, "SELECT * FROM {hash} WHERE pk = '1' AND attribute_exists(?)")
    message = "Operator or function requires a document path; operator or function: attribute_exists"
    refused(api, "ExecuteStatement", Statement=statement, Parameters=[{"S": "ss"}], message=message)


@probe(rule=50, tier=3)
def a_table_that_is_missing_is_not_found(api: Api) -> None:
    """The statement may also begin with FROM."""
    kind, message = "ResourceNotFoundException", "Requested resource not found"
    statement = f"FROM \"{api.prefix}nowhere\" WHERE pk = 'x' SET c = 1"
    refused(api, "ExecuteStatement", kind=kind, Statement=statement, message=message)
