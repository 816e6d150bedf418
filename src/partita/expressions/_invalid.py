"""DynamoDB's error messages for expressions that break a rule."""

from __future__ import annotations

from types import TracebackType

from partita.errors import ValidationFailed


class InvalidExpression(Exception):
    """A broken rule, before the name of the expression is added to the message."""


class Within:
    """Adds the name of the expression in which a rule was broken, such as "UpdateExpression"; None adds no name."""

    __slots__ = ("_what",)

    def __init__(self, what: str | None) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if isinstance(error, InvalidExpression):
            raise ValidationFailed(str(error) if self._what is None else f"Invalid {self._what}: {error}") from None


def wrong_type(operator: str, kind: str) -> InvalidExpression:
    """An operand has a type that the operator or function does not accept."""
    return InvalidExpression(
        f"Incorrect operand type for operator or function; operator or function: {operator}, operand type: {kind}"
    )


def wrong_count(operator: str, count: int) -> InvalidExpression:
    """Too many or too few operands."""
    return InvalidExpression(
        "Incorrect number of operands for operator or function; "
        f"operator or function: {operator}, number of operands: {count}"
    )


def too_many_operators(count: int) -> InvalidExpression:
    """More operators and functions than are allowed in one expression."""
    return InvalidExpression(f"The expression contains too many operators; operator count: {count}")


def nested_too_deeply() -> InvalidExpression:
    """Functions nested inside functions, more deeply than any sensible expression needs."""
    return InvalidExpression("The expression has functions nested too deeply;")


def redundant_parentheses() -> InvalidExpression:
    """Parentheses directly inside parentheses."""
    return InvalidExpression("The expression has redundant parentheses;")


def misused(function: str) -> InvalidExpression:
    """A function in a place where its result is not allowed."""
    return InvalidExpression(f"The function is not allowed to be used this way in an expression; function: {function}")


def no_condition_function(function: str) -> InvalidExpression:
    """An update function in a condition."""
    return InvalidExpression(f"The function is not allowed in a condition expression; function: {function}")


def no_update_function(function: str) -> InvalidExpression:
    """A condition function in an update."""
    return InvalidExpression(f"The function is not allowed in an update expression; function: {function}")


def path_required(function: str) -> InvalidExpression:
    """A function that requires a path has another operand."""
    return InvalidExpression(f"Operator or function requires a document path; operator or function: {function}")
