"""Parsing statements into trees.

SELECT (* | path {"," path}) FROM table ["." index] [WHERE condition] [ORDER BY key [ASC | DESC] {"," key …}]
INSERT INTO table VALUE map
UPDATE table {SET path "=" operand {"," …} | REMOVE path {"," …}} WHERE condition [RETURNING …]
DELETE FROM table WHERE condition [RETURNING ALL OLD *]
EXISTS "(" SELECT … ")", in a transaction
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from partita.errors import ValidationFailed
from partita.expressions import AddAction, Condition, DeleteAction, Path, SetAction, Update, Value
from partita.values import AttributeValue
from partita.wire.partiql._conditions import ConditionReader
from partita.wire.partiql._tokens import wrong

MAX_STATEMENT: Final = 8_192


class Order(Struct, frozen=True):
    """One key to sort by."""

    name: str
    descending: bool = False


class Select(Struct, frozen=True):
    """Reads items; no paths stand for whole items."""

    table: str
    index: str | None
    paths: tuple[Path, ...]
    where: Condition | None
    order: tuple[Order, ...] = ()


class Insert(Struct, frozen=True):
    """Writes an item that must not exist."""

    table: str
    item: dict[str, Any]


class Modify(Struct, frozen=True):
    """Updates an item, or deletes it where there is no update."""

    table: str
    update: Update | None
    where: Condition
    returning: str | None = None


class Check(Struct, frozen=True):
    """Requires an item to be there, and to satisfy the condition."""

    table: str
    where: Condition | None


Statement: TypeAlias = Select | Insert | Modify | Check


def parse_statement(text: str, parameters: Sequence[AttributeValue] = ()) -> Statement:
    """The statement, with its parameters in place.

    Raises:
        ValidationFailed: the text is not a statement, or parameters are missing or left over.
    """
    if not 1 <= len(text) <= MAX_STATEMENT:
        raise ValidationFailed(f"A statement has 1 to {MAX_STATEMENT} characters.")
    reader = _StatementReader(text, parameters)
    statement = reader.statement()
    reader.finish()
    return statement


class _StatementReader(ConditionReader):
    def statement(self) -> Statement:
        if self.tokens.call("exists"):
            return self._check()
        verbs: dict[str, Callable[[], Statement]] = {
            "SELECT": self._select,
            "INSERT": self._insert,
            "UPDATE": self._update,
            "DELETE": self._delete,
        }
        verb = self.tokens.word(*verbs)
        if verb is None:
            raise wrong(self.tokens.peek()[1])
        return verbs[verb]()

    def _check(self) -> Check:
        self.tokens.expect_word("SELECT")
        select = self._select()
        self.tokens.expect(")")
        return Check(select.table, select.where)

    def _select(self) -> Select:
        paths: list[Path] = []
        if not self.tokens.sign("*"):
            paths.append(self.path())
            while self.tokens.sign(","):
                paths.append(self.path())
        self.tokens.expect_word("FROM")
        table = self.name()
        index = self.name() if self.tokens.sign(".") else None
        where = self.condition() if self.tokens.word("WHERE") else None
        return Select(table, index, tuple(paths), where, tuple(self._order()))

    def _order(self) -> list[Order]:
        if not self.tokens.word("ORDER"):
            return []
        self.tokens.expect_word("BY")
        order = [self._ordered_by()]
        while self.tokens.sign(","):
            order.append(self._ordered_by())
        return order

    def _ordered_by(self) -> Order:
        return Order(self.name(), self.tokens.word("ASC", "DESC") == "DESC")

    def _insert(self) -> Insert:
        self.tokens.expect_word("INTO")
        table = self.name()
        self.tokens.expect_word("VALUE")
        item = self.literal()
        if not isinstance(item, dict):
            raise ValidationFailed("The VALUE of an INSERT must be a map.")
        return Insert(table, item)

    def _delete(self) -> Modify:
        self.tokens.expect_word("FROM")
        table = self.name()
        self.tokens.expect_word("WHERE")
        where, returning = self.condition(), self._returning()
        if returning not in (None, "ALL_OLD"):
            raise ValidationFailed("A DELETE can only return ALL OLD *.")
        return Modify(table, None, where, returning)

    def _update(self) -> Modify:
        table, update = self.name(), Update()
        while clause := self.tokens.word("SET", "REMOVE"):
            update = self._with_set(update) if clause == "SET" else self._with_remove(update)
        if update == Update():
            raise wrong(self.tokens.peek()[1])
        self.tokens.expect_word("WHERE")
        return Modify(table, update, self.condition(), self._returning())

    def _with_remove(self, update: Update) -> Update:
        removes = [*update.removes, self.path()]
        while self.tokens.sign(","):
            removes.append(self.path())
        return Update(update.sets, tuple(removes), update.adds, update.deletes)

    def _with_set(self, update: Update) -> Update:
        while True:
            path = self.path()
            self.tokens.expect("=")
            update = self._with_assigned(update, path)
            if not self.tokens.sign(","):
                return update

    def _with_assigned(self, update: Update, path: Path) -> Update:
        function = self.tokens.call("set_add", "set_delete")
        if function is None:
            return Update((*update.sets, SetAction(path, self.sum())), update.removes, update.adds, update.deletes)
        members = self._members_for(path, function)
        if function == "set_add":
            return Update(update.sets, update.removes, (*update.adds, AddAction(path, members)), update.deletes)
        return Update(update.sets, update.removes, update.adds, (*update.deletes, DeleteAction(path, members)))

    def _members_for(self, path: Path, function: str) -> Value:
        if self.path() != path:
            raise ValidationFailed(f"{function} must change the attribute that it reads.")
        self.tokens.expect(",")
        members = Value(self.literal())
        self.tokens.expect(")")
        return members

    def _returning(self) -> str | None:
        if not self.tokens.word("RETURNING"):
            return None
        scope, age = self.tokens.word("ALL", "MODIFIED"), self.tokens.word("OLD", "NEW")
        self.tokens.expect("*")
        if scope is None or age is None:
            raise wrong(self.tokens.peek()[1])
        return f"{'ALL' if scope == 'ALL' else 'UPDATED'}_{age}"
