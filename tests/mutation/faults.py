"""Faults that can be planted in a module: small changes of its source, like mistakes that a person might make."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path
from typing import Final

from msgspec import Struct

COMPARISONS: Final = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC: Final = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "*"}
TWINS: Final = {
    "insert": "put",
    "put": "insert",
    "any_of": "all_of",
    "all_of": "any_of",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
}
"""Names of functions, each with the function that it might be confused with."""
METHODS: Final = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq"}
"""Names of methods that conditions are built with, each with the method that it might be confused with."""
LEFT_OUT: Final = ("consistent", "when", "where")
"""Methods that return the same operation, only stricter, so that the call might be forgotten."""
DESCRIPTIVE: Final = ("budget", "description", "examples", "frozen", "hint", "responses", "strict", "writes")
"""Keyword arguments that only describe something: they contain no rules."""


class Fault(Struct, frozen=True, order=True):
    """One change of a module's source: the bytes from `start` to `end` are replaced."""

    module: str
    """The path of the module, relative to the folder of the package."""
    line: int
    start: int
    end: int
    """The position of the replaced text in the source, in bytes."""
    after: str
    before: str
    statement: int
    """The first line of the enclosing statement: coverage does not always count the lines inside a statement."""
    is_static: bool
    """Whether the code runs when the module is imported, so that no single test reaches it."""

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def can_be_read(self, source: bytes) -> bool:
        """Whether Python can parse the source with the fault."""
        try:
            ast.parse(self.applied(source))
        except SyntaxError:
            return False
        return True

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.module}:{self.line}: {before}  ->  {after or 'nothing'}"


def faults_of(root: Path, path: Path) -> list[Fault]:
    """Return all faults that can be planted in a module."""
    source = path.read_bytes()
    finder = _Finder(str(path.relative_to(root)), source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.found))


class _Finder(ast.NodeVisitor):
    """Finds the faults of a module; skips annotations, docstrings and descriptions."""

    def __init__(self, module: str, source: bytes) -> None:
        self._module = module
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._depth = 0
        self._statement = 0
        self.found: list[Fault] = []

    def visit(self, node: ast.AST) -> None:
        """Visit a node, and keep track of the enclosing statement."""
        outer = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node.lineno
        super().visit(node)
        self._statement = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for outside in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(outside)
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)  # type: ignore[arg-type]  # both have the same fields

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in DESCRIPTIVE:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._plant(node.test, f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._plant(node.test, f"(not ({self._text(node.test)}))")
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Skip asserts, which are for type checkers."""

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and (other := COMPARISONS.get(type(node.ops[0]))):
            self._between(node.left, node.comparators[0], other)
        elif all(isinstance(op, ast.Lt | ast.LtE) for op in node.ops):
            sides = [node.left, *node.comparators]
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
                self._between(left, right, COMPARISONS[type(op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, other)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._plant(node, f"({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_text = any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in (node.left, node.right))
        if (other := ARITHMETIC.get(type(node.op))) and not is_text:
            self._between(node.left, node.right, other)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._plant(node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._plant(node, str(node.value + 1))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip f-strings, which are messages or keys and contain no rules."""

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func
        if isinstance(name, ast.Name) and name.id in TWINS:
            self._plant(name, _reachable(TWINS[name.id]))
        if isinstance(name, ast.Attribute):
            if name.attr in LEFT_OUT:
                self._plant(node, self._text(name.value))
            if name.attr in METHODS:
                self._replace(self._end(name) - len(name.attr), self._end(name), METHODS[name.attr], name)
        if isinstance(name, ast.Name) and name.id in ("Rcu", "Wcu"):
            return
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._plant(node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._plant(node, "break")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node.value, ast.YieldFrom):
            self._plant(node, "yield from ()")  # the function stays a generator
        elif isinstance(node.value, ast.Call | ast.Await) and self._depth:
            self._plant(node, "pass")
        self.generic_visit(node)

    def _plant(self, node: ast.expr | ast.stmt, after: str) -> None:
        self._replace(self._start(node), self._end(node), after, node)

    def _between(self, left: ast.expr, right: ast.expr, after: str) -> None:
        """Replace the operator between two operands, which may be in parentheses."""
        start, end = self._end(left), self._start(right)
        gap = self._source[start:end].decode()
        closing, opening = gap.count(")"), gap.count("(")
        self._replace(start, end, ")" * closing + f" {after} " + "(" * opening, left)

    def _replace(self, start: int, end: int, after: str, node: ast.expr | ast.stmt) -> None:
        before = self._source[start:end].decode()
        place = (self._module, node.lineno, start, end)
        self.found.append(Fault(*place, after, before, self._statement, self._depth == 0))

    def _text(self, node: ast.expr) -> str:
        return self._source[self._start(node) : self._end(node)].decode()

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset


def _reachable(name: str) -> str:
    """Return an expression for a function that works in any module: a missing import would be caught too easily."""
    return name if hasattr(builtins, name) else f"__import__('partita').{name}"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
