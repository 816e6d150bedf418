"""The syntax tree of a statement, before its translation for DynamoDB."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from partita.wire.partiql._tokens import Token


class Name(Struct, frozen=True):
    """The name of an attribute or a table."""

    token: Token


class Literal(Struct, frozen=True):
    """A string, number, boolean or null as written; also MISSING."""

    token: Token
    sign: str = ""


class Parameter(Struct, frozen=True):
    """A question mark; `position` counts those before it."""

    token: Token
    position: int


class Group(Struct, frozen=True):
    """A list, or a bag (set) in double angle brackets."""

    token: Token
    members: tuple[Node, ...]

    @property
    def is_bag(self) -> bool:
        """Whether it is written as a bag."""
        return self.token.kind == "<<"


class Mapping(Struct, frozen=True):
    """A map as pairs of key and value."""

    token: Token
    members: tuple[tuple[Node, Node], ...]


class PathTo(Struct, frozen=True):
    """A path into a document: each step is a name, an expression in brackets, or a star."""

    root: Node
    steps: tuple[Token | Node, ...]

    @property
    def token(self) -> Token:
        """Its first token."""
        return self.root.token


class Call(Struct, frozen=True):
    """A function with its arguments."""

    token: Token
    arguments: tuple[Node, ...]

    @property
    def function(self) -> str:
        """Its name in lower case: functions are case-insensitive."""
        return self.token.text.lower()


class Operation(Struct, frozen=True):
    """An operator with one to three operands."""

    token: Token
    operands: tuple[Node, ...]

    @property
    def operator(self) -> str:
        """The operator."""
        return self.token.text


class TypeTest(Struct, frozen=True):
    """`operand IS type`, or IS NOT."""

    token: Token
    operand: Node
    type: str


class SelectNode(Struct, frozen=True):
    """SELECT; empty `columns` mean `*`."""

    token: Token
    columns: tuple[Node, ...]
    source: Node
    aliased: bool
    where: Node | None
    order: tuple[tuple[Node, bool], ...]
    clause: Token | None = None
    """A PartiQL clause that DynamoDB does not support."""


class InsertNode(Struct, frozen=True):
    """INSERT INTO."""

    token: Token
    target: Node
    value: Node
    clause: Token | None = None


class Change(Struct, frozen=True):
    """SET path = value, or REMOVE path if there is no value."""

    path: Node
    value: Node | None


class ModifyNode(Struct, frozen=True):
    """UPDATE, or DELETE if there are no changes."""

    token: Token
    target: Node
    aliased: bool
    changes: tuple[Change, ...]
    where: Node | None
    returning: str | None


Node: TypeAlias = (
    Name
    | Literal
    | Parameter
    | Group
    | Mapping
    | PathTo
    | Call
    | Operation
    | TypeTest
    | SelectNode
    | InsertNode
    | ModifyNode
)
"""An expression, or a statement, which may appear in place of an expression."""
