"""Reading the condition after WHERE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from partita.expressions import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    HasType,
    In,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Value,
)
from partita.wire.partiql._operands import OperandReader
from partita.wire.partiql._tokens import wrong

_COMPARATORS: Final = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_PREDICATES: Final[dict[str, Callable[[Path, Value], Condition]]] = {
    "begins_with": BeginsWith,
    "contains": Contains,
    "attribute_type": HasType,
}


class ConditionReader(OperandReader):
    """Reads conditions, of which OR binds the least."""

    def condition(self) -> Condition:
        """A whole condition."""
        self.tokens.enter()
        terms = [self._conjunction()]
        while self.tokens.word("OR"):
            terms.append(self._conjunction())
        self.tokens.leave()
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def _conjunction(self) -> Condition:
        terms = [self._term()]
        while self.tokens.word("AND"):
            terms.append(self._term())
        return terms[0] if len(terms) == 1 else And(tuple(terms))

    def _term(self) -> Condition:
        negations = 0
        while self.tokens.word("NOT"):
            negations += 1
        if self.tokens.sign("("):
            term = self.condition()
            self.tokens.expect(")")
        else:
            term = self._predicate() or self._comparison()
        return Not(term) if negations % 2 else term

    def _predicate(self) -> Condition | None:
        function = self.tokens.call(*_PREDICATES)
        if function is None:
            return None
        path = self.path()
        self.tokens.expect(",")
        operand = Value(self.literal())
        self.tokens.expect(")")
        return _PREDICATES[function](path, operand)

    def _comparison(self) -> Condition:
        left = self.operand()
        if sign := self.tokens.sign(*_COMPARATORS):
            return Compare(_COMPARATORS[sign], left, self.operand())  # type: ignore[arg-type]  # a comparator
        if self.tokens.word("IS") and isinstance(left, Path):
            return self._is(left)
        negated = self.tokens.word("NOT") is not None
        term = self._range_or_options(left)
        return Not(term) if negated else term

    def _range_or_options(self, left: Operand) -> Condition:
        if self.tokens.word("BETWEEN"):
            low = self.operand()
            self.tokens.expect_word("AND")
            return Between(left, low, self.operand())
        if self.tokens.word("IN"):
            return In(left, tuple(self._options()))
        raise wrong(self.tokens.peek()[1])

    def _is(self, path: Path) -> Condition:
        negated = self.tokens.word("NOT") is not None
        if self.tokens.word("MISSING"):
            return Exists(path) if negated else Missing(path)
        self.tokens.expect_word("NULL")
        null = HasType(path, Value("NULL"))
        return Not(null) if negated else null

    def _options(self) -> list[Operand]:
        closing = "]" if self.tokens.sign("[") else ")"
        if closing == ")":
            self.tokens.expect("(")
        options = [self.operand()]
        while self.tokens.sign(","):
            options.append(self.operand())
        self.tokens.expect(closing)
        return options
