"""Parses statements.

SELECT (* | path {"," path}) FROM table ["." index] [WHERE condition] [ORDER BY key [ASC | DESC] {"," key …}]
INSERT INTO table VALUE map
UPDATE table {SET path "=" value {"," …} | REMOVE path} [WHERE condition] [RETURNING …]
FROM table [WHERE condition] {SET … | REMOVE …} [RETURNING …]
DELETE FROM table [WHERE condition] [RETURNING …]
EXISTS "(" SELECT … ")", in a transaction
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from partita.wire.partiql._keywords import SELECT_PRECEDENCE
from partita.wire.partiql._parser import ExpressionParser
from partita.wire.partiql._tokens import Token
from partita.wire.partiql._tree import Change, InsertNode, ModifyNode, Node, SelectNode

CACHED: Final = 512
CACHED_LENGTH: Final = 1_024
_RETURNING: Final = {
    "modified_old": "MODIFIED OLD",
    "modified_new": "MODIFIED NEW",
    "all_old": "ALL OLD",
    "all_new": "ALL NEW",
}
_ELEMENT: Final = "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element."


def parse(text: str) -> tuple[Node, int]:
    """Parse a statement; return its tree and its number of parameters.

    Raises:
        ValidationFailed: the syntax is invalid.
    """
    return _parsed(text) if len(text) > CACHED_LENGTH else _parsed_before(text)


def _parsed(text: str) -> tuple[Node, int]:
    parser = StatementParser(text)
    node = parser.expression()
    parser.expect_end()
    return node, parser.parameters


_parsed_before: Final = lru_cache(maxsize=CACHED)(_parsed)
"""Cached: statements often repeat verbatim with other parameters. Their trees are immutable."""


class StatementParser(ExpressionParser):
    """Also parses statements."""

    def statement(self) -> Node | None:
        """Parse a statement; None if the next word does not begin one."""
        match self.head.word:
            case "select":
                return self._select(self.take())
            case "insert_into":
                return self._insert(self.take())
            case "update":
                return self._update(self.take())
            case "delete":
                return self._delete(self.take())
            case "from":
                return self._from(self.take())
        return None

    def _select(self, token: Token) -> Node:
        clause = self.accept_word("distinct")
        if clause is None:
            self.accept_word("all")
        columns, aliased = self._columns()
        if not self.accept_word("from"):
            self.refuse("Expected FROM after SELECT list")
        source = self.expression(SELECT_PRECEDENCE)
        aliased = self._alias() or aliased
        where = self.expression(SELECT_PRECEDENCE) if self.accept_word("where") else None
        order = self._order() if self.accept_word("order") else ()
        return SelectNode(token, columns, source, aliased, where, order, self._clause() or clause)

    def _columns(self) -> tuple[tuple[Node, ...], bool]:
        if self.accept("*"):
            if self.head.kind == ",":
                self.refuse(
                    "Other expressions may not be present in the select list when '*' is used without dot notation."
                )
            return (), False
        columns, aliased = [self.expression()], self._alias()
        while self.accept(","):
            columns.append(self.expression())
            aliased = self._alias() or aliased
        return tuple(columns), aliased

    def _alias(self) -> bool:
        """Read an alias, with or without AS, or by AT or BY; return whether there was one."""
        found = self._named_alias("as")
        if not found and self.head.kind in ("name", "quoted"):
            self.take()
            found = True
        return self._named_alias("at") or self._named_alias("by") or found

    def _named_alias(self, word: str) -> bool:
        if not self.accept(word):
            return False
        if self.head.kind not in ("name", "quoted"):
            self.refuse(f"Expected identifier for {word.upper()}-alias")
        self.take()
        return True

    def _order(self) -> tuple[tuple[Node, bool], ...]:
        self.expect("by")
        order = [self._ordered_by()]
        while self.accept(","):
            order.append(self._ordered_by())
        return tuple(order)

    def _ordered_by(self) -> tuple[Node, bool]:
        node = self.expression()
        descending = self.head.kind == "desc"
        if self.head.kind in ("asc", "desc"):
            self.take()
        return node, descending

    def _clause(self) -> Token | None:
        """Read clauses that DynamoDB does not support; return the first one."""
        clause = None
        while word := self.accept_word("group", "having", "limit"):
            if word.text == "group":
                self.expect("by")
            clause = clause or Token(word.kind, word.text, self.head.line, self.head.column, self.head.length)
            self.expression(SELECT_PRECEDENCE)
            while self.accept(","):
                self.expression(SELECT_PRECEDENCE)
        return clause

    def _insert(self, token: Token) -> Node:
        target = self.path(simple=True)
        if not self.accept_word("value"):
            return InsertNode(token, target, self.expression())
        value = self.expression()
        clause = self.head if self.head.word in ("at", "on_conflict", "returning") else None
        if self.accept("at"):
            self.expression()
        if self.accept_word("on_conflict"):
            self._conflict()
        self._returning()
        return InsertNode(token, target, value, clause)

    def _conflict(self) -> None:
        if not self.accept_word("where"):
            self.refuse("invalid ON CONFLICT syntax")
        self.expression()
        if not (self.accept_word("do") and self.accept_word("nothing")):
            self.refuse("invalid ON CONFLICT syntax")

    def _update(self, token: Token) -> Node:
        target, aliased = self.path(simple=True), self._alias()
        changes = self._changes()
        return ModifyNode(token, target, aliased, changes, self._where(), self._returning())

    def _delete(self, token: Token) -> Node:
        if not self.accept_word("from"):
            self.refuse("Expected FROM after DELETE")
        target, aliased = self.path(simple=True), self._alias()
        return ModifyNode(token, target, aliased, (), self._where(), self._returning())

    def _from(self, token: Token) -> Node:
        target = self.expression()
        aliased, where = self._alias(), self._where()
        return ModifyNode(token, target, aliased, self._changes(), where, self._returning())

    def _where(self) -> Node | None:
        return self.expression() if self.accept_word("where") else None

    def _changes(self) -> tuple[Change, ...]:
        changes: list[Change] = []
        while clause := self.accept_word("set", "remove"):
            if clause.text == "remove":
                changes.append(Change(self.path(simple=True), None))
                continue
            changes.append(self._assignment())
            while self.accept(","):
                changes.append(self._assignment())
        if not changes:
            self.refuse("Expected data manipulation")
        return tuple(changes)

    def _assignment(self) -> Change:
        path = self.path(simple=True)
        if not self.accept_word("="):
            self.refuse("Expected '='")
        return Change(path, self.expression())

    def _returning(self) -> str | None:
        if not self.accept_word("returning"):
            return None
        mapping = self.head.word
        if mapping not in _RETURNING:
            self.refuse(_ELEMENT)
        self.take()
        if not self.accept("*"):
            self.expression()
            self.refuse("Unsupported syntax in RETURNING columns.")
        return _RETURNING[mapping]
