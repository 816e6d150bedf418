"""Strategies for random requests on two small tables: paths exist and conditions hold about half of the time."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st
from tests.contract.trees import operand, path

from partita.expressions import _ast as ast
from partita.store import _requests as rq
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema
from partita.values._attribute_values import Item

T = TypeVar("T")
Strategy: TypeAlias = st.SearchStrategy[T]
Draw: TypeAlias = Callable[[Strategy[Any]], Any]

BY_CITY = IndexSchema("by-city", (KeyAttribute("city"),), (KeyAttribute("age", "N"),))
CITIES = IndexSchema("cities", (KeyAttribute("city"),), projection=("n",))
BY_AGE = IndexSchema("by-age", (KeyAttribute("pk"),), (KeyAttribute("age", "N"),), local=True)
TEXTS = TableSchema(
    "play-texts", KeyAttribute("pk"), KeyAttribute("sk"), (BY_AGE, BY_CITY, CITIES), stream="NEW_AND_OLD_IMAGES"
)
NUMBERS = TableSchema("play-numbers", KeyAttribute("pk"), KeyAttribute("sk", "N"), stream="NEW_AND_OLD_IMAGES")
TABLES = (TEXTS, NUMBERS)
SORT_KEYS: dict[str, list[Any]] = {
    TEXTS.name: ["1", "10", "2", "20", "z", "é"],
    NUMBERS.name: [-10, -1, 0, Decimal("1.5"), 2, 10],
}

# --- values: each attribute has one type, only `any` may have all of them ---

whole = st.integers(-3, 3)
amounts: Strategy[Any] = whole | st.just(Decimal("0.5"))
texts = st.sampled_from(["", "a", "ab", "b", "é"])
letters = st.frozensets(st.sampled_from("abc"), min_size=1, max_size=3)
digits = st.frozensets(whole, min_size=1, max_size=3)
binaries = st.sampled_from([b"", b"a", b"\xff"])
scalars: Strategy[Any] = st.one_of(amounts, texts, binaries, st.booleans(), st.none())
lists = st.lists(scalars, max_size=3)
maps = st.fixed_dictionaries({"x": amounts}, optional={"names": letters, "y": scalars})
ATTRIBUTES: dict[str, Strategy[Any]] = {
    "n": amounts,
    "text": texts,
    "tags": lists,
    "info": maps,
    "words": letters,
    "numbers": digits,
    "any": st.one_of(scalars, lists, maps, letters, digits),
    "city": st.sampled_from("CD"),
    "age": st.integers(0, 3),
}
bodies: Strategy[Item] = st.fixed_dictionaries({}, optional=ATTRIBUTES)
# An index key that must be refused; drawn rarely.
bad_bodies: Strategy[Item] = st.builds(
    lambda body, bad: body | bad, bodies, st.sampled_from([{"city": 5}, {"city": ""}, {"age": "old"}])
)


# Strategies that are used often are created once, because creating one takes longer than drawing from it.


@cache
def keys(table: TableSchema) -> Strategy[Item]:
    """One of the few keys in the requests."""
    return st.fixed_dictionaries({"pk": st.sampled_from("ab"), "sk": st.sampled_from(SORT_KEYS[table.name])})


@cache
def items(table: TableSchema) -> Strategy[Item]:
    """Whole items; rarely one with an invalid index key."""
    body = bodies if table is NUMBERS else st.integers(0, 19).flatmap(lambda n: bad_bodies if n == 13 else bodies)
    return st.builds(lambda key, attributes: key | attributes, keys(table), body)


# --- conditions ---

PATHS: dict[str, Strategy[Any]] = {
    **ATTRIBUTES,
    "tags[0]": scalars,
    "tags[2]": scalars,
    "info.x": amounts,
    "info.names": letters,
    "any.x": amounts,
    "nothing": scalars,
}
TYPES = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]
COMPARATORS: list[ast.Comparator] = ["<", "<=", ">", ">="]
some_path = st.sampled_from(sorted(PATHS))
ordered_path = st.sampled_from(["n", "text", "info.x", "age", "any", "tags[0]", "nothing"])
sized_path = st.sampled_from(["tags", "words", "text", "info"])


_one_in_five, _one_in_six, _equal, _ordered = (
    st.integers(0, 4),
    st.integers(0, 5),
    st.sampled_from(["=", "<>"]),
    st.sampled_from(COMPARATORS),
)
_subjects: Strategy[Any] = ordered_path.map(path) | sized_path.map(path).map(ast.Size)
_bounds: Strategy[Any] = st.one_of(*(st.tuples(each, each) for each in (amounts, texts, binaries)))
_either = st.booleans()


@st.composite
def comparisons(draw: Draw) -> ast.Condition:
    """An equality, inequality or IN, mostly with a value that the attribute may have."""
    text = draw(some_path)
    value = ast.Value(draw(PATHS[text] if draw(_one_in_six) else scalars))
    if draw(_one_in_five) == 0:
        return ast.In(path(text), (value, ast.Value(draw(PATHS[text]))))
    return ast.Compare(draw(_equal), path(text), value)


@st.composite
def orderings(draw: Draw) -> ast.Condition:
    """A comparison with `<`, `<=`, `>` or `>=`, or a BETWEEN."""
    subject, bounds = draw(_subjects), draw(_bounds)
    if draw(_either):
        return ast.Compare(draw(_ordered), subject, ast.Value(bounds[0]))
    low, high = sorted(bounds)
    return ast.Between(subject, ast.Value(low), ast.Value(high))


predicates: Strategy[ast.Condition] = st.one_of(
    st.builds(ast.Exists, some_path.map(path)),
    st.builds(ast.Missing, some_path.map(path)),
    st.builds(ast.HasType, some_path.map(path), st.sampled_from(TYPES).map(ast.Value)),
    st.builds(ast.BeginsWith, st.sampled_from(["text", "city"]).map(path), texts.map(ast.Value)),
    st.builds(ast.Contains, st.just(path("words")), st.sampled_from("abcd").map(ast.Value)),
    st.builds(ast.Contains, st.just(path("numbers")), whole.map(ast.Value)),
    st.builds(ast.Contains, st.just(path("tags")), scalars.map(ast.Value)),
    st.builds(ast.Contains, st.just(path("text")), st.sampled_from("ab").map(ast.Value)),
)
conditions: Strategy[ast.Condition] = st.recursive(
    comparisons() | orderings() | predicates,
    lambda inner: st.one_of(
        st.builds(ast.Not, inner),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(ast.And),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(ast.Or),
    ),
    max_leaves=3,
)


def off_keys(condition: Any, names: frozenset[str]) -> bool:
    """Whether a filter does not mention these key attributes."""
    return not any(repr(name) in repr(condition) for name in names)


def perhaps(strategy: Strategy[T]) -> Strategy[T | None]:
    """A value of the strategy, or None."""
    return st.none() | strategy


# --- updates ---


def setting(text: str, operands: Strategy[Any]) -> Strategy[ast.Update]:
    """SET the path to an operand or a literal."""
    return operands.map(lambda each: ast.Update(sets=(ast.SetAction(path(text), operand(each)),)))


def removing(text: str) -> Strategy[ast.Update]:
    """REMOVE the path."""
    return st.just(ast.Update(removes=(path(text),)))


def adding(text: str, values: Strategy[Any]) -> Strategy[ast.Update]:
    """ADD a value to the path."""
    return values.map(lambda value: ast.Update(adds=(ast.AddAction(path(text), ast.Value(value)),)))


def deleting(text: str, values: Strategy[Any]) -> Strategy[ast.Update]:
    """DELETE members from the path."""
    return values.map(lambda value: ast.Update(deletes=(ast.DeleteAction(path(text), ast.Value(value)),)))


def _sum(left: ast.Operand) -> Strategy[ast.Operand]:
    return st.builds(ast.Arithmetic, st.sampled_from(["+", "-"]), st.just(left), amounts.map(ast.Value))


_tags = ast.IfNotExists(path("tags"), ast.Value([]))
CHANGES: dict[str, Strategy[ast.Update]] = {
    "n": st.one_of(
        setting("n", amounts),
        setting("n", _sum(path("n"))),
        setting("n", _sum(ast.IfNotExists(path("n"), ast.Value(0)))),
        setting("n", st.just(path("age"))),
        adding("n", amounts),
        removing("n"),
    ),
    "text": st.one_of(setting("text", texts), setting("text", st.just(path("city"))), removing("text")),
    "tags": st.one_of(
        setting("tags", lists),
        setting("tags[0]", scalars),
        setting("tags[9]", scalars),
        setting("tags", lists.map(lambda new: ast.ListAppend(path("tags"), ast.Value(new)))),
        setting("tags", lists.map(lambda new: ast.ListAppend(ast.Value(new), _tags))),
        removing("tags[1]"),
        removing("tags"),
    ),
    "info": st.one_of(
        setting("info", maps),
        setting("info.x", amounts),
        setting("info.x", _sum(path("info.x"))),
        adding("info.x", amounts),
        adding("info.names", letters),
        deleting("info.names", letters),
        removing("info.y"),
    ),
    "words": st.one_of(setting("words", letters), adding("words", letters), deleting("words", letters)),
    "numbers": st.one_of(adding("numbers", digits), deleting("numbers", digits), removing("numbers")),
    "any": st.one_of(
        setting("any", ATTRIBUTES["any"]),
        setting("any", st.sampled_from(["n", "info", "tags[0]"]).map(path)),
        adding("any", amounts | letters | digits),
        deleting("any", letters | digits),
        removing("any"),
    ),
    "city": st.one_of(setting("city", st.sampled_from("CD")), removing("city")),
    "age": st.one_of(setting("age", st.integers(0, 3)), adding("age", st.just(1)), removing("age")),
}


_heads = st.lists(st.sampled_from(sorted(CHANGES)), max_size=4, unique=True)


@st.composite
def updates(draw: Draw) -> ast.Update:
    """Up to four changes, each of a different attribute."""
    heads = draw(_heads)
    changes = [draw(CHANGES[head]) for head in heads]
    return ast.Update(
        sets=tuple(action for change in changes for action in change.sets),
        removes=tuple(action for change in changes for action in change.removes),
        adds=tuple(action for change in changes for action in change.adds),
        deletes=tuple(action for change in changes for action in change.deletes),
    )


# --- requests ---

_table = st.sampled_from([TEXTS, TEXTS, NUMBERS])
_old = st.sampled_from(["NONE", "ALL_OLD"])
_returns = st.sampled_from(["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
_projected = st.sampled_from(["sk", "n", "tags[1]", "info.x", "any", "nothing"])
_condition = perhaps(conditions)
_updates = updates()
_projection = st.lists(_projected, min_size=1, unique=True).map(lambda texts: tuple(map(path, texts)))
_perhaps_projection = perhaps(_projection)


@st.composite
def puts(draw: Draw) -> rq.PutItem:
    table = draw(_table)
    return rq.PutItem(table.name, draw(items(table)), draw(_condition), draw(_old), draw(_either))


@st.composite
def deletes(draw: Draw) -> rq.DeleteItem:
    table = draw(_table)
    return rq.DeleteItem(table.name, draw(keys(table)), draw(_condition), draw(_old), draw(_either))


@st.composite
def item_updates(draw: Draw) -> rq.UpdateItem:
    table = draw(_table)
    condition, returns = draw(_condition), draw(_returns)
    return rq.UpdateItem(table.name, draw(keys(table)), draw(_updates), condition, returns, draw(_either))


@st.composite
def gets(draw: Draw) -> rq.GetItem:
    table = draw(_table)
    return rq.GetItem(table.name, draw(keys(table)), draw(_either), draw(_perhaps_projection))


@st.composite
def ranges(draw: Draw, name: str, values: list[Any]) -> ast.KeyRange:
    low, high = sorted(draw(st.tuples(st.sampled_from(values), st.sampled_from(values))))
    op = draw(st.sampled_from([*COMPARATORS, "BETWEEN", "BEGINS_WITH" if isinstance(low, str) else "BETWEEN"]))
    return ast.KeyRange(name, op, (low, high) if op == "BETWEEN" else (low,))


_limits = st.sampled_from([None, 1, 2, 3, 4])


@cache
def _indexes(table: TableSchema) -> Strategy[IndexSchema | None]:
    return st.sampled_from([None, *table.indexes])


@cache
def _filters(used: frozenset[str]) -> Strategy[ast.Condition | None]:
    return perhaps(conditions.filter(lambda condition: off_keys(condition, used)))


@st.composite
def queries(draw: Draw) -> rq.QueryTable:
    """A query on a table or one of its indexes, whose pages are all read."""
    table = draw(_table)
    index = draw(_indexes(table))
    source = table if index is None else index
    span = None
    if len(source.key) > 1:
        name = source.key[1].name
        values = SORT_KEYS[table.name] if name == "sk" else [0, 1, 2, 3]
        span = draw(perhaps(ranges(name, values)))
    hash_name = source.key[0].name
    used = frozenset(attribute.name for attribute in source.key)
    return rq.QueryTable(
        table.name,
        ast.KeyCondition(((hash_name, draw(st.sampled_from("ab" if hash_name == "pk" else "CD"))),), span),
        index=None if index is None else index.name,
        filter=draw(_filters(used)),
        limit=draw(_limits),
        forward=draw(_either),
        count_only=draw(_one_in_six) == 0,
    )


@st.composite
def scans(draw: Draw) -> rq.ScanTable:
    table = draw(_table)
    index = draw(_indexes(table))
    return rq.ScanTable(table.name, index=None if index is None else index.name, filter=draw(_condition))


def _target(request: Any) -> tuple[Any, ...]:
    key = request.item if isinstance(request, rq.PutItem) else request.key
    return request.table, key["pk"], key["sk"]


def _plain(request: rq.PutItem | rq.DeleteItem) -> rq.PutItem | rq.DeleteItem:
    if isinstance(request, rq.PutItem):
        return rq.PutItem(request.table, request.item)
    return rq.DeleteItem(request.table, request.key)


checks = st.builds(
    lambda get, condition, carry: rq.ConditionCheck(get.table, get.key, condition, carry),
    gets(),
    conditions,
    st.booleans(),
)
actions = st.one_of(puts(), item_updates(), deletes(), checks)


def some_of(strategy: Strategy[T]) -> Strategy[tuple[T, ...]]:
    """One to four requests, each for a different item."""
    return st.lists(strategy, min_size=1, max_size=4, unique_by=_target).map(tuple)


requests: Strategy[Any] = st.one_of(
    puts(),
    puts(),
    item_updates(),
    item_updates(),
    item_updates(),
    deletes(),
    gets(),
    queries(),
    queries(),
    queries(),
    scans(),
    some_of((puts() | deletes()).map(_plain)).map(rq.BatchWriteItem),
    some_of(gets().map(lambda get: rq.GetItem(get.table, get.key))).map(rq.BatchGetItem),
    some_of(actions).map(rq.TransactWriteItems),
    some_of(gets()).map(rq.TransactGetItems),
)
