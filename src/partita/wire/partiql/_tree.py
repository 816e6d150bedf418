"""What a statement says, before it is known what DynamoDB makes of it."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from partita.wire.partiql._tokens import Token


class Name(Struct, frozen=True):
    """A name, which may stand for an attribute or a table."""

    token: Token


class Literal(Struct, frozen=True):
    """A text, number, truth value or null, as it is written; MISSING too."""

    token: Token
    sign: str = ""


class Parameter(Struct, frozen=True):
    """A question mark, by its position among all."""

    token: Token
    position: int


class Group(Struct, frozen=True):
    """A list, or with double angle brackets a bag, which is a set."""

    token: Token
    members: tuple[Node, ...]

    @property
    def is_bag(self) -> bool:
        """Whether it is written as a bag."""
        return self.token.kind == "<<"


class Mapping(Struct, frozen=True):
    """A map, by pairs of key and value."""

    token: Token
    members: tuple[tuple[Node, Node], ...]


class PathTo(Struct, frozen=True):
    """A way into a document: each step is a name, an expression in brackets, or a star."""

    root: Node
    steps: tuple[Token | Node, ...]

    @property
    def token(self) -> Token:
        """Where it begins."""
        return self.root.token


class Call(Struct, frozen=True):
    """A function with its arguments."""

    token: Token
    arguments: tuple[Node, ...]

    @property
    def function(self) -> str:
        """Its name: functions are known in any case."""
        return self.token.text.lower()


class Operation(Struct, frozen=True):
    """An operator with its operands, of which it has one to three."""

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
    """SELECT; no columns stand for the star."""

    token: Token
    columns: tuple[Node, ...]
    source: Node
    aliased: bool
    where: Node | None
    order: tuple[tuple[Node, bool], ...]
    clause: Token | None = None
    """A clause that PartiQL has and DynamoDB has not."""


class InsertNode(Struct, frozen=True):
    """INSERT INTO."""

    token: Token
    target: Node
    value: Node
    clause: Token | None = None


class Change(Struct, frozen=True):
    """SET path = value, or REMOVE path where there is no value."""

    path: Node
    value: Node | None


class ModifyNode(Struct, frozen=True):
    """UPDATE, or DELETE where there are no changes."""

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
"""An expression, or a statement, which may stand where an expression does."""
