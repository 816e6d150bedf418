"""Parsing DynamoDB's text into expressions, and its messages for invalid text."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from partita.errors import ValidationFailed
from partita.expressions._ast import (
    AddAction,
    And,
    Arithmetic,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    DeleteAction,
    Exists,
    HasType,
    IfNotExists,
    In,
    ListAppend,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    SetAction,
    Size,
    Update,
    Value,
)
from partita.expressions._parse import Substitutions, parse_condition, parse_projection, parse_update
from partita.expressions._reserved import RESERVED_WORDS
from partita.values._attribute_values import AttributeValue

VALUES: Mapping[str, AttributeValue] = {
    ":one": 1,
    ":two": 2,
    ":s": "x",
    ":list": [1],
    ":set": frozenset({"m"}),
    ":type": "S",
}
ONE, TWO = Value(1), Value(2)


def path(*parts: str | int) -> Path:
    return Path(parts)


A, B, C, D = (Compare("=", path(name), ONE) for name in "abcd")


def subs() -> Substitutions:
    return Substitutions({"#n": "and", "#odd": "a.b c"}, VALUES)


def condition(text: str) -> Condition:
    return parse_condition(text, subs())


def update(text: str) -> Update:
    return parse_update(text, subs())


def refused_condition(text: str) -> str:
    with pytest.raises(ValidationFailed) as refusal:
        condition(text)
    return refusal.value.message.removeprefix("Invalid ConditionExpression: ")


def refused_update(text: str) -> str:
    with pytest.raises(ValidationFailed) as refusal:
        update(text)
    return refusal.value.message.removeprefix("Invalid UpdateExpression: ")


# --- conditions ---


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = :one", A),
        ("a<>:one", Compare("<>", path("a"), ONE)),
        (":one >= #odd", Compare(">=", ONE, path("a.b c"))),
        ("a.#n[0][12].b < :one", Compare("<", path("a", "and", 0, 12, "b"), ONE)),
        ("a BETWEEN :one AND :two", Between(path("a"), ONE, TWO)),
        ("(a)between(:one)and(:two)", Between(path("a"), ONE, TWO)),
        ("a IN (:one, b, :two)", In(path("a"), (ONE, path("b"), TWO))),
        ("size(a) > :one", Compare(">", Size(path("a")), ONE)),
        ("size((a)) > (:one)", Compare(">", Size(path("a")), ONE)),
        ("a > size(:list)", Compare(">", path("a"), ONE)),
        ("attribute_exists(a)", Exists(path("a"))),
        ("attribute_not_exists (a[0])", Missing(path("a", 0))),
        ("attribute_type(a, :type)", HasType(path("a"), Value("S"))),
        ("begins_with(a, :s)", BeginsWith(path("a"), Value("x"))),
        ("contains(a, b)", Contains(path("a"), path("b"))),
        ("(a.b).c = :one", Compare("=", path("a", "b", "c"), ONE)),
        ("\ta\r\n=\n:one ", A),
    ],
)
def test_comparisons_and_functions(text: str, tree: Condition) -> None:
    assert condition(text) == tree


@pytest.mark.rule(16)
@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = :one AND b = :one AND c = :one", And((A, B, C))),
        ("a = :one AND (b = :one AND c = :one)", And((A, And((B, C))))),
        ("(a = :one AND b = :one) AND c = :one", And((And((A, B)), C))),
        ("a = :one OR b = :one AND c = :one OR d = :one", Or((A, And((B, C)), D))),
        ("(a = :one OR b = :one) AND c = :one", And((Or((A, B)), C))),
        ("NOT a = :one AND b = :one", And((Not(A), B))),
        ("NOT (a = :one AND b = :one)", Not(And((A, B)))),
        ("NOT NOT a = :one", Not(Not(A))),
        ("(a = :one)", A),
        ("(NOT (a = :one))", Not(A)),
        ("((a = :one) OR (b = :one))", Or((A, B))),
        ("a BETWEEN :one AND :two AND b = :one", And((Between(path("a"), ONE, TWO), B))),
        ("a = :one aNd b = :one oR nOt c = :one", Or((And((A, B)), Not(C)))),
    ],
)
def test_not_binds_before_and_before_or(text: str, tree: Condition) -> None:
    assert condition(text) == tree


@pytest.mark.rule(16)
@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("a > 4", "4", "> 4"),
        ("a >", "<EOF>", ">"),
        ("test-1 = :one", "-", "test-1"),
        ("a b", "b", "a b"),
        ("a..b = :one", ".", "..b"),
        ("a IN (:one, )", ")", ", )"),
        ("a IN b", "b", "IN b"),
        ("a[b] = :one", "b", "[b]"),
        ("a[:one] = :one", ":one", "[:one]"),
        ("a[1.5] = :one", ".", "1.5"),
        ("a = :one)", ")", ":one)"),
        ("(a = :one", "<EOF>", ":one"),
        ("a = between", "between", "= between"),
        ("size(a).b = :one", ".", ").b"),
        ("_a = :one", "_", "_a"),
        ("ü = :one", "ü", "ü ="),
        ('"a" = :one', '"', '"a'),
        ("# = :one", "#", "# ="),
        ("   ", "<EOF>", ""),
        ("attribute_exists()", ")", "()"),
        ("a = :one AND", "<EOF>", "AND"),
        (":one.a = :two", ".", ":one.a"),
    ],
)
def test_a_syntax_error_shows_the_token_and_its_neighbours(text: str, token: str, near: str) -> None:
    assert refused_condition(text) == f'Syntax error; token: "{token}", near: "{near}"'


@pytest.mark.rule(17)
@pytest.mark.parametrize(
    "text",
    [
        "((a = :one))",
        "a = ((:one))",
        "((a)) = :one",
        "a = :one AND ((b = :one AND c = :one))",
        "a = :one OR ((b = :one))",
        "contains(a, ((b)))",
        "(a)between(((b.c)).d)and(c)",
        "(" * 2000 + "a = :one" + ")" * 2000,
    ],
)
def test_redundant_parentheses_are_refused(text: str) -> None:
    assert refused_condition(text) == "The expression has redundant parentheses;"


@pytest.mark.rule(15, 16, 17)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("whatever(a) = :one", "Invalid function name; function: whatever"),
        ("Attribute_Exists(a)", "Invalid function name; function: Attribute_Exists"),
        (
            "attribute_exists(a) > :one",
            "The function is not allowed to be used this way in an expression; function: attribute_exists",
        ),
        (
            "a IN (b, contains(a, b))",
            "The function is not allowed to be used this way in an expression; function: contains",
        ),
        ("size(a)", "The function is not allowed to be used this way in an expression; function: size"),
        (
            "if_not_exists(a, :one) = :one",
            "The function is not allowed in a condition expression; function: if_not_exists",
        ),
        (
            "attribute_exists(:one)",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "begins_with(a)",
            (
                "Incorrect number of operands for operator or function; "
                "operator or function: begins_with, number of operands: 1"
            ),
        ),
        (
            "size(a, b) > :one",
            "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
        ),
        (
            "size(:one) > :one",
            "Incorrect operand type for operator or function; operator or function: size, operand type: N",
        ),
        (
            "size(size(a)) > :one",
            "Incorrect operand type for operator or function; operator or function: size, operand type: N",
        ),
        ("abOrT = :one", "Attribute name is a reserved keyword; reserved keyword: abOrT"),
        ("a.size = :one", "Attribute name is a reserved keyword; reserved keyword: size"),
        (
            "a.#z = :one",
            "An expression attribute name used in the document path is not defined; attribute name: #z",
        ),
        (
            "a = :z",
            "An expression attribute value used in expression is not defined; attribute value: :z",
        ),
        ("", "The expression can not be empty;"),
        (
            "contains(a, a)",
            (
                "The first operand must be distinct from the remaining operands for this operator or function; "
                "operator: contains, first operand: [a]"
            ),
        ),
    ],
)
def test_a_condition_that_breaks_a_rule_is_refused_in_dynamodbs_words(text: str, message: str) -> None:
    assert refused_condition(text) == message


def test_the_message_names_the_expression() -> None:
    with pytest.raises(ValidationFailed, match=r"^Invalid FilterExpression: Syntax error; "):
        parse_condition("a b", subs(), "FilterExpression")


@pytest.mark.rule(7)
def test_the_length_is_checked_in_bytes_before_anything_else() -> None:
    longest = "a = :one" + " " * 4_088
    assert condition(longest) == A
    too_long = "Expression size has exceeded the maximum allowed size; expression size: "
    assert refused_condition(longest + " ") == f"{too_long}4097"
    assert refused_condition("ü" * 2_049) == f"{too_long}4098"
    assert refused_condition("(" * 5_000) == f"{too_long}5000"
    assert refused_update("SET " * 1_025) == "Expression size has exceeded the maximum allowed size;"


@pytest.mark.rule(7)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 4_096, 'Syntax error; token: "<EOF>", near: "("'),
        ("size(" * 800 + "a", "The expression has functions nested too deeply;"),
        ("NOT " * 1_000 + "a = :one", "The expression contains too many operators; operator count: 301"),
        ("a = " + "(" * 500 + "b" + ").c" * 500, "The expression has functions nested too deeply;"),
    ],
)
def test_deep_nesting_is_refused_and_not_fatal(text: str, message: str) -> None:
    assert refused_condition(text) == message


def test_a_chain_nested_to_the_left_is_read_to_its_full_depth() -> None:
    """Clients that join conditions in pairs write such chains."""
    text, tree = "a = :one AND b = :one", And((A, B))
    for _ in range(148):
        text, tree = f"({text}) AND c = :one", And((tree, C))
    assert condition(text) == tree


# --- updates ---


@pytest.mark.rule(17)
@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("b", path("b")),
        (":one", ONE),
        ("(:one)", ONE),
        ("b + :one", Arithmetic("+", path("b"), ONE)),
        ("(b - :one)", Arithmetic("-", path("b"), ONE)),
        ("(b) - (:one)", Arithmetic("-", path("b"), ONE)),
        ("((b) + :one)", Arithmetic("+", path("b"), ONE)),
        ("if_not_exists(b, :one) + :two", Arithmetic("+", IfNotExists(path("b"), ONE), TWO)),
        ("if_not_exists(b, if_not_exists(c, :one))", IfNotExists(path("b"), IfNotExists(path("c"), ONE))),
        ("list_append(if_not_exists(b, :list), c)", ListAppend(IfNotExists(path("b"), Value([1])), path("c"))),
    ],
)
def test_what_set_assigns(text: str, operand: Operand) -> None:
    assert update(f"SET a = {text}") == Update(sets=(SetAction(path("a"), operand),))


@pytest.mark.rule(16)
def test_clauses_come_in_any_order_and_case() -> None:
    text = "delete s :set, t.#n :set Remove x, y[2] ADD n :one sEt a = :one, b = :two"
    assert update(text) == Update(
        sets=(SetAction(path("a"), ONE), SetAction(path("b"), TWO)),
        removes=(path("x"), path("y", 2)),
        adds=(AddAction(path("n"), ONE),),
        deletes=(
            DeleteAction(path("s"), Value(frozenset({"m"}))),
            DeleteAction(path("t", "and"), Value(frozenset({"m"}))),
        ),
    )


@pytest.mark.rule(16, 17, 19)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The expression can not be empty;"),
        ("  ", 'Syntax error; token: "<EOF>", near: ""'),
        ("a = :one", 'Syntax error; token: "a", near: "a ="'),
        ("SET a", 'Syntax error; token: "<EOF>", near: "a"'),
        ("SET a = :one,", 'Syntax error; token: "<EOF>", near: ","'),
        ("SET a = b + c + d", 'Syntax error; token: "+", near: "c + d"'),
        ("SET a = list_append(b + c, d)", 'Syntax error; token: "+", near: "b + c"'),
        ("ADD a b", 'Syntax error; token: "b", near: "a b"'),
        ("REMOVE a b", 'Syntax error; token: "b", near: "a b"'),
        ("SET a = ((b))", "The expression has redundant parentheses;"),
        ("SET a = ((b + c))", "The expression has redundant parentheses;"),
        (
            "SET a = :one REMOVE b SET c = :one",
            'The "SET" section can only be used once in an update expression;',
        ),
        ("SET a = size(b)", "The function is not allowed in an update expression; function: size"),
        ("SET a = contains(b, c)", "The function is not allowed in an update expression; function: contains"),
        ("SET a = dog(b)", "Invalid function name; function: dog"),
        ("SET a = If_Not_Exists(a, b)", "Invalid function name; function: If_Not_Exists"),
        (
            "SET a = if_not_exists(:one, b)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET a = list_append(b)",
            (
                "Incorrect number of operands for operator or function; "
                "operator or function: list_append, number of operands: 1"
            ),
        ),
        (
            "SET a = list_append(list_append(a, b), c)",
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
        ("SET size = :one", "Attribute name is a reserved keyword; reserved keyword: size"),
        (
            "SET a = " + "if_not_exists(a, " * 200 + ":one" + ")" * 200,
            "The expression has functions nested too deeply;",
        ),
        (
            "REMOVE a, a.b",
            (
                "Two document paths overlap with each other; must remove or rewrite one of these paths; "
                "path one: [a], path two: [a, b]"
            ),
        ),
    ],
)
def test_an_update_that_breaks_a_rule_is_refused_in_dynamodbs_words(text: str, message: str) -> None:
    assert refused_update(text) == message


# --- projections ---


def test_a_projection_is_a_list_of_paths() -> None:
    assert parse_projection("a, b.#n[0] ,c", subs()) == (path("a"), path("b", "and", 0), path("c"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The expression can not be empty;"),
        ("a,", 'Syntax error; token: "<EOF>", near: ","'),
        ("a b", 'Syntax error; token: "b", near: "a b"'),
        ("a, :one", 'Syntax error; token: ":one", near: ", :one"'),
        ("a, and", "Attribute name is a reserved keyword; reserved keyword: and"),
        ("a[9999999999]", "List index is not within the allowable range; index: [9999999999]"),
        (
            "a[0], a",
            (
                "Two document paths overlap with each other; must remove or rewrite one of these paths; "
                "path one: [a, [0]], path two: [a]"
            ),
        ),
    ],
)
def test_a_projection_that_breaks_a_rule_is_refused_in_dynamodbs_words(text: str, message: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        parse_projection(text, subs())
    assert refusal.value.message == f"Invalid ProjectionExpression: {message}"


# --- substitutions ---


@pytest.mark.rule(15)
def test_what_no_expression_used_is_refused() -> None:
    given = Substitutions({"#a": "a", "#b": "b", "#c": "c"}, {":a": 1, ":b": 2})
    parse_condition("#a = :a", given)
    with pytest.raises(ValidationFailed) as names:
        given.check_all_used()
    assert names.value.message == ("Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}")
    parse_projection("#b, #c", given)
    with pytest.raises(ValidationFailed) as values:
        given.check_all_used()
    assert values.value.message == ("Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}")
    parse_update("SET x = :b", given)
    given.check_all_used()


@pytest.mark.parametrize("key", ["a", "#", "#a-b", "#ü", ":a"])
def test_a_name_placeholder_is_a_hash_and_a_word(key: str) -> None:
    with pytest.raises(ValidationFailed, match="ExpressionAttributeNames contains invalid key: Syntax error; key: "):
        Substitutions({key: "a"})


@pytest.mark.parametrize("key", ["a", ":", ":a b", "#a"])
def test_a_value_placeholder_is_a_colon_and_a_word(key: str) -> None:
    with pytest.raises(ValidationFailed, match="ExpressionAttributeValues contains invalid key: Syntax error; key: "):
        Substitutions({}, {key: 1})


@pytest.mark.rule(16)
def test_the_reserved_words_are_those_of_the_developer_guide() -> None:
    assert len(RESERVED_WORDS) == 573
    assert {"ABORT", "NAME", "STATUS", "TTL", "ZONE"} < RESERVED_WORDS
    assert not {"PK", "TITLE", "EMAIL"} & RESERVED_WORDS
