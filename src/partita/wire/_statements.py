"""Parsing PartiQL's statements, as far as DynamoDB has them, into trees.

SELECT (* | path {"," path}) FROM table ["." index] [WHERE condition] [ORDER BY path [ASC | DESC]]
INSERT INTO table VALUE map
UPDATE table {SET path "=" operand | REMOVE path} WHERE condition [RETURNING …]
DELETE FROM table WHERE condition [RETURNING …]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from partita._values import AttributeValue, number
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

MAX_STATEMENT: Final = 8_192
MAX_NESTING: Final = 64
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<quoted>\"(?:[^\"]|\"\")*\")|(?P<number>-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|(?P<sign><<|>>|<=|>=|<>|!=|[=<>()\[\]{},.:?*+-])|(?P<end>\Z))"
)
_COMPARATORS: Final = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class Select(Struct, frozen=True):
    """Reads items; no paths stand for whole items."""

    table: str
    index: str | None
    paths: tuple[Path, ...]
    where: Condition | None
    forward: bool = True


class Insert(Struct, frozen=True):
    """Writes an item that must not exist."""

    table: str
    item: dict[str, Any]


class Change(Struct, frozen=True):
    """Updates an item, or deletes it where there is no update."""

    table: str
    update: Update | None
    where: Condition
    returning: str | None = None


Statement: TypeAlias = Select | Insert | Change


def parse_statement(text: str, parameters: Sequence[AttributeValue] = ()) -> Statement:
    """The statement, with its parameters in place.

    Raises:
        ValidationFailed: the text is no statement, or parameters are missing or left over.
    """
    if not 1 <= len(text) <= MAX_STATEMENT:
        raise ValidationFailed(f"A statement has 1 to {MAX_STATEMENT} characters.")
    parser = _Parser(text, parameters)
    statement = parser.statement()
    parser.finish()
    return statement


class _Parser:
    def __init__(self, text: str, parameters: Sequence[AttributeValue]) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._parameters = list(parameters)
        self._used = 0
        self._depth = 0

    # --- tokens ---

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at]

    def _take(self) -> tuple[str, str]:
        token = self._tokens[self._at]
        if token[0] == "end":
            raise _wrong(token[1])
        self._at += 1
        return token

    def _word(self, *words: str) -> str | None:
        kind, text = self._peek()
        if kind == "name" and text.upper() in words:
            self._at += 1
            return text.upper()
        return None

    def _sign(self, *signs: str) -> str | None:
        kind, text = self._peek()
        if kind == "sign" and text in signs:
            self._at += 1
            return text
        return None

    def _expect_word(self, word: str) -> None:
        if self._word(word) is None:
            raise _wrong(self._peek()[1])

    def _expect(self, sign: str) -> None:
        if self._sign(sign) is None:
            raise _wrong(self._peek()[1])

    def finish(self) -> None:
        if self._peek()[0] != "end":
            raise _wrong(self._peek()[1])
        if self._used != len(self._parameters):
            raise ValidationFailed("Number of parameters in request and statement don't match.")

    # --- statements ---

    def statement(self) -> Statement:
        verbs: dict[str, Callable[[], Statement]] = {
            "SELECT": self._select,
            "INSERT": self._insert,
            "UPDATE": self._update,
            "DELETE": self._delete,
        }
        verb = self._word(*verbs)
        if verb is None:
            raise _wrong(self._peek()[1])
        return verbs[verb]()

    def _select(self) -> Select:
        paths: list[Path] = []
        if not self._sign("*"):
            paths.append(self._path())
            while self._sign(","):
                paths.append(self._path())
        self._expect_word("FROM")
        table = self._name()
        index = self._name() if self._sign(".") else None
        where = self._condition() if self._word("WHERE") else None
        return Select(table, index, tuple(paths), where, self._forward())

    def _forward(self) -> bool:
        if not self._word("ORDER"):
            return True
        self._expect_word("BY")
        self._path()
        return self._word("ASC", "DESC") != "DESC"

    def _insert(self) -> Insert:
        self._expect_word("INTO")
        table = self._name()
        self._expect_word("VALUE")
        item = self._literal()
        if not isinstance(item, dict):
            raise ValidationFailed("The VALUE of an INSERT must be a map.")
        return Insert(table, item)

    def _delete(self) -> Change:
        self._expect_word("FROM")
        table = self._name()
        self._expect_word("WHERE")
        return Change(table, None, self._condition(), self._returning())

    def _update(self) -> Change:
        table, update = self._name(), Update()
        while clause := self._word("SET", "REMOVE"):
            update = self._with_set(update) if clause == "SET" else self._with_remove(update)
        if update == Update():
            raise _wrong(self._peek()[1])
        self._expect_word("WHERE")
        return Change(table, update, self._condition(), self._returning())

    def _with_remove(self, update: Update) -> Update:
        removes = [*update.removes, self._path()]
        while self._sign(","):
            removes.append(self._path())
        return Update(update.sets, tuple(removes), update.adds, update.deletes)

    def _with_set(self, update: Update) -> Update:
        while True:
            path = self._path()
            self._expect("=")
            update = self._with_assigned(update, path)
            if not self._sign(","):
                return update

    def _with_assigned(self, update: Update, path: Path) -> Update:
        function = self._word("SET_ADD", "SET_DELETE")
        if function is None:
            return Update((*update.sets, SetAction(path, self._sum())), update.removes, update.adds, update.deletes)
        self._expect("(")
        self._path()
        self._expect(",")
        members = Value(self._literal())
        self._expect(")")
        if function == "SET_ADD":
            return Update(update.sets, update.removes, (*update.adds, AddAction(path, members)), update.deletes)
        return Update(update.sets, update.removes, update.adds, (*update.deletes, DeleteAction(path, members)))

    def _returning(self) -> str | None:
        if not self._word("RETURNING"):
            return None
        scope, age = self._word("ALL", "MODIFIED"), self._word("OLD", "NEW")
        self._expect("*")
        if scope is None or age is None:
            raise _wrong(self._peek()[1])
        return f"{'ALL' if scope == 'ALL' else 'UPDATED'}_{age}"

    # --- conditions ---

    def _condition(self) -> Condition:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise ValidationFailed("The statement is nested too deeply.")
        terms = [self._conjunction()]
        while self._word("OR"):
            terms.append(self._conjunction())
        self._depth -= 1
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def _conjunction(self) -> Condition:
        terms = [self._term()]
        while self._word("AND"):
            terms.append(self._term())
        return terms[0] if len(terms) == 1 else And(tuple(terms))

    def _term(self) -> Condition:
        negations = 0
        while self._word("NOT"):
            negations += 1
        if self._sign("("):
            term = self._condition()
            self._expect(")")
        else:
            term = self._predicate() or self._comparison()
        return Not(term) if negations % 2 else term

    def _predicate(self) -> Condition | None:
        kind, text = self._peek()
        name = text.lower()
        if kind != "name" or name not in _PREDICATES or self._tokens[self._at + 1][1] != "(":
            return None
        self._at += 2
        path = self._path()
        self._expect(",")
        operand = Value(self._literal())
        self._expect(")")
        return _PREDICATES[name](path, operand)

    def _comparison(self) -> Condition:
        left = self._operand()
        if sign := self._sign(*_COMPARATORS):
            return Compare(_COMPARATORS[sign], left, self._operand())  # type: ignore[arg-type]
        if self._word("BETWEEN"):
            low = self._operand()
            self._expect_word("AND")
            return Between(left, low, self._operand())
        if self._word("IN"):
            return In(left, tuple(self._options()))
        if self._word("IS") and isinstance(left, Path):
            return self._is(left)
        raise _wrong(self._peek()[1])

    def _is(self, path: Path) -> Condition:
        negated = self._word("NOT") is not None
        if self._word("MISSING"):
            return Exists(path) if negated else Missing(path)
        self._expect_word("NULL")
        null = HasType(path, Value("NULL"))
        return Not(null) if negated else null

    def _options(self) -> list[Operand]:
        closing = "]" if self._sign("[") else ")"
        if closing == ")":
            self._expect("(")
        options = [self._operand()]
        while self._sign(","):
            options.append(self._operand())
        self._expect(closing)
        return options

    # --- operands ---

    def _sum(self) -> Operand:
        left = self._operand()
        if sign := self._sign("+", "-"):
            return Arithmetic(sign, left, self._operand())  # type: ignore[arg-type]
        return left

    def _operand(self) -> Operand:
        kind, text = self._peek()
        called = kind == "name" and self._tokens[self._at + 1][1] == "("
        if called and text.lower() == "list_append":
            self._at += 2
            first = self._operand()
            self._expect(",")
            second = self._operand()
            self._expect(")")
            return ListAppend(first, second)
        if called and text.lower() == "size":
            self._at += 2
            path = self._path()
            self._expect(")")
            return Size(path)
        if kind == "quoted" or (kind == "name" and text.lower() not in _CONSTANTS):
            return self._path()
        return Value(self._literal())

    def _name(self) -> str:
        kind, text = self._take()
        if kind == "quoted":
            return text[1:-1].replace('""', '"')
        if kind != "name":
            raise _wrong(text)
        return text

    def _path(self) -> Path:
        parts: list[str | int] = [self._name()]
        while True:
            if self._sign("."):
                parts.append(self._name())
            elif self._sign("["):
                kind, text = self._take()
                if kind != "number" or not text.isdigit():
                    raise _wrong(text)
                parts.append(int(text))
                self._expect("]")
            else:
                return Path(tuple(parts))

    # --- literals ---

    def _literal(self) -> AttributeValue:
        kind, text = self._take()
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return number(text)
        if kind == "name" and text.lower() in _CONSTANTS:
            return _CONSTANTS[text.lower()]
        if text == "?":
            return self._parameter()
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise ValidationFailed("The statement is nested too deeply.")
        literal = self._structure(text)
        self._depth -= 1
        return literal

    def _structure(self, opening: str) -> AttributeValue:
        if opening == "[":
            return self._members("]")
        if opening == "<<":
            return frozenset(self._members(">>"))
        if opening != "{":
            raise _wrong(opening)
        fields: dict[str, AttributeValue] = {}
        while not self._sign("}"):
            if fields:
                self._expect(",")
            kind, text = self._take()
            if kind not in ("text", "quoted"):
                raise _wrong(text)
            self._expect(":")
            fields[text[1:-1].replace("''", "'")] = self._literal()
        return fields

    def _members(self, closing: str) -> list[Any]:
        members: list[Any] = []
        while not self._sign(closing):
            if members:
                self._expect(",")
            members.append(self._literal())
        return members

    def _parameter(self) -> AttributeValue:
        if self._used >= len(self._parameters):
            raise ValidationFailed("Number of parameters in request and statement don't match.")
        self._used += 1
        return self._parameters[self._used - 1]


_CONSTANTS: Final[dict[str, AttributeValue]] = {"true": True, "false": False, "null": None}
_PREDICATES: Final[dict[str, Callable[[Path, Value], Condition]]] = {
    "begins_with": BeginsWith,
    "contains": Contains,
    "attribute_type": HasType,
}


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, at = [], 0
    text = text.rstrip().removesuffix(";")
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _wrong(text[at : at + 10])
        kind = match.lastgroup or "end"
        tokens.append((kind, match[kind]))
        if kind == "end":
            return [*tokens, ("end", "")]
        at = match.end()


def _wrong(near: str) -> ValidationFailed:
    return ValidationFailed(f"Statement wasn't well formed, can't be processed: Unexpected {near!r}")
