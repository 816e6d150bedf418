"""Parses expressions by operator precedence, like AWS's own PartiQL parser.

The parser only refuses syntax errors: DynamoDB may still not support an expression that parses.
"""

from __future__ import annotations

from typing import Final, NoReturn

from partita.errors import ValidationFailed
from partita.wire.partiql._keywords import AGGREGATES, FUNCTIONS, PRECEDENCE, TYPES
from partita.wire.partiql._tokens import Token, malformed, tokenize
from partita.wire.partiql._tree import Call, Group, Literal, Mapping, Name, Node, Operation, Parameter, PathTo, TypeTest

MAX_NESTING: Final = 64
_KIND_NAMES: Final = {
    ")": "RIGHT_PAREN",
    "]": "RIGHT_BRACKET",
    "}": "RIGHT_CURLY",
    ">>": "RIGHT_DOUBLE_ANGLE_BRACKET",
    ":": "COLON",
    "by": "BY",
}
_LITERALS: Final = ("text", "number", "truth", "null", "missing")
_MISSING_RIGHT: Final = "Missing right-hand side expression of infix operator"


class ExpressionParser:
    """Parses tokens from left to right, and refuses the statement at a syntax error."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._next = 0
        self._depth = 0
        self.parameters = 0

    # --- tokens ---

    @property
    def head(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def ahead(self, count: int) -> Token:
        """The token `count` places after the next one; the end token repeats."""
        return self._tokens[min(self._next + count, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Read the next token."""
        token = self.head
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def accept(self, kind: str) -> Token | None:
        """Read the next token if it is of this kind."""
        return self.take() if self.head.kind == kind else None

    def accept_word(self, *words: str) -> Token | None:
        """Read the next token if it is one of these words."""
        return self.take() if self.head.word in words else None

    def expect(self, kind: str) -> Token:
        """Read a token of this kind; refuse the statement if it is missing."""
        return self.accept(kind) or self.refuse(f"Expected {_KIND_NAMES[kind]}")

    def refuse(self, detail: str) -> NoReturn:
        """Refuse the statement because of a syntax error."""
        raise malformed(detail)

    def expect_end(self) -> None:
        """Refuse any remaining tokens except one semicolon."""
        if self.accept(";") and self.head.kind != "end":
            self.refuse("Unexpected token after semicolon. (Only one query is allowed.)")
        if self.head.kind != "end":
            self.refuse("Unexpected token after expression")

    # --- expressions ---

    def expression(self, precedence: int = -1) -> Node:
        """Parse an expression whose operators have a higher precedence than the given one."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise ValidationFailed("The statement is nested too deeply.")
        left = self._unary()
        while precedence < self._infix_precedence():
            left = self._infix(left, self.take())
        self._depth -= 1
        return left

    def _infix_precedence(self) -> int:
        """The precedence of the next token as an infix operator; -2 if it is not one."""
        if self.head.kind not in ("operator", "*") or self.head.text == "not":
            return -2
        return PRECEDENCE.get(self.head.text, -2)

    def _infix(self, left: Node, operator: Token) -> Node:
        word = operator.text
        if word in ("is", "is_not"):
            return TypeTest(operator, left, self._type())
        if word in ("in", "not_in") and self.head.kind == "(" and self.ahead(1).word not in ("select", "values"):
            opening = self.take()
            return Operation(operator, (left, Group(opening, self._items(")"))))
        if self.head.kind == "end":
            self.refuse(_MISSING_RIGHT)
        right = self.expression(PRECEDENCE[word])
        if word not in ("between", "not_between"):
            return Operation(operator, (left, right))
        if not self.accept_word("and"):
            self.refuse("Expected AND keyword")
        if self.head.kind in ("end", ";"):
            self.refuse("Expected expression after AND")
        return Operation(operator, (left, right, self.expression(PRECEDENCE[word])))

    def _type(self) -> str:
        name = self.head.word
        if name not in TYPES:
            self.refuse("Expected type name")
        self.take()
        if self.accept("("):
            self._items(")")
        return name

    def _unary(self) -> Node:
        if self.head.word not in ("+", "-", "not"):
            return self.path()
        operator = self.take()
        if operator.text == "not":
            return Operation(operator, (self.expression(PRECEDENCE["not"]),))
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise ValidationFailed("The statement is nested too deeply.")
        term = self._unary()
        self._depth -= 1
        if isinstance(term, Literal) and term.token.kind == "number":
            return Literal(term.token, "-" if (operator.text == "-") != (term.sign == "-") else "")
        return Operation(operator, (term,))

    def path(self, *, simple: bool = False) -> Node:
        """Parse a term and the path steps after it; a simple path begins with a name."""
        if simple and self.head.kind not in ("name", "quoted"):
            self.refuse("Expected identifier for simple path")
        root = Name(self.take()) if simple else self._term()
        steps: list[Token | Node] = []
        while True:
            if self.accept("."):
                steps.append(self._step(simple=simple))
            elif self.accept("["):
                steps.append(self.take() if self.head.kind == "*" else self.expression())
                self.expect("]")
            else:
                return PathTo(root, tuple(steps)) if steps else root

    def _step(self, *, simple: bool) -> Token:
        if self.head.kind == "*" and simple:
            self.refuse("Invalid path dot component for simple path")
        if self.head.kind not in ("name", "quoted", "*"):
            self.refuse("Invalid path dot component")
        return self.take()

    def _term(self) -> Node:
        kind = self.head.kind
        if kind in _LITERALS:
            return Literal(self.take())
        if kind in ("name", "quoted"):
            token = self.take()
            return self._call(token) if self.accept("(") else Name(token)
        if kind == "?":
            self.parameters += 1
            return Parameter(self.take(), self.parameters - 1)
        if kind in ("(", "[", "<<"):
            return self._group(self.take())
        if kind == "{":
            return self._map(self.take())
        if kind == "operator":
            self.refuse("Unexpected operator")
        if kind != "keyword":
            self.refuse("Unexpected term")
        return self._keyword()

    def _keyword(self) -> Node:
        statement = self.statement()
        if statement is not None:
            return statement
        if self.head.word not in FUNCTIONS or self.ahead(1).kind != "(":
            self.refuse("Unexpected keyword")
        token = self.take()
        self.take()
        return self._call(token)

    def statement(self) -> Node | None:
        """Parse a statement, which may appear in place of an expression; None for any other word."""
        return None

    def _call(self, function: Token) -> Node:
        name = function.text.lower()
        if self.head.kind == "*":
            if name != "count":
                self.refuse(f"{name}(*) is not allowed")
            self.take()
            self.expect(")")
            return Call(function, ())
        if self.accept(")"):
            if name in AGGREGATES:
                self.refuse("Aggregate functions are always unary")
            return Call(function, ())
        return Call(function, self._items(")"))

    def _group(self, opening: Token) -> Node:
        closing = {"(": ")", "[": "]", "<<": ">>"}[opening.kind]
        if opening.kind != "(" and self.accept(closing):
            return Group(opening, ())
        members = self._items(closing)
        return members[0] if opening.kind == "(" and len(members) == 1 else Group(opening, members)

    def _items(self, closing: str) -> tuple[Node, ...]:
        items = [self.expression()]
        while self.accept(","):
            items.append(self.expression())
        self.expect(closing)
        return tuple(items)

    def _map(self, opening: Token) -> Node:
        members: list[tuple[Node, Node]] = []
        if self.accept("}"):
            return Mapping(opening, ())
        while True:
            key = self.expression()
            self.expect(":")
            members.append((key, self.expression()))
            if not self.accept(","):
                self.expect("}")
                return Mapping(opening, tuple(members))
