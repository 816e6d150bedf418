"""What DynamoDB says when an expression breaks a rule."""

from __future__ import annotations

from types import TracebackType

from partita.errors import ValidationFailed


class Refusal(Exception):
    """A broken rule, before it is said in which expression."""


class Within:
    """Names the expression, such as "UpdateExpression", in which a rule was broken."""

    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if isinstance(error, Refusal):
            raise ValidationFailed(f"Invalid {self._what}: {error}") from None


def wrong_type(operator: str, kind: str) -> Refusal:
    """An operand is of a type that the operator or function does not take."""
    return Refusal(
        f"Incorrect operand type for operator or function; operator or function: {operator}, operand type: {kind}"
    )


def wrong_count(operator: str, count: int) -> Refusal:
    """Too many or too few operands."""
    return Refusal(
        "Incorrect number of operands for operator or function; "
        f"operator or function: {operator}, number of operands: {count}"
    )


def too_many_operators(count: int) -> Refusal:
    """More operators and functions than one expression may have."""
    return Refusal(f"The expression contains too many operators; operator count: {count}")


def nested_too_deeply() -> Refusal:
    """Functions inside functions, deeper than any sensible expression needs."""
    return Refusal("The expression has functions nested too deeply;")


def redundant_parentheses() -> Refusal:
    """Parentheses right inside parentheses."""
    return Refusal("The expression has redundant parentheses;")


def misused(function: str) -> Refusal:
    """A function in a place where its result cannot stand."""
    return Refusal(f"The function is not allowed to be used this way in an expression; function: {function}")


def no_condition_function(function: str) -> Refusal:
    """A function of updates in a condition."""
    return Refusal(f"The function is not allowed in a condition expression; function: {function}")


def no_update_function(function: str) -> Refusal:
    """A function of conditions in an update."""
    return Refusal(f"The function is not allowed in an update expression; function: {function}")


def path_required(function: str) -> Refusal:
    """A function that asks about an attribute was given something else."""
    return Refusal(f"Operator or function requires a document path; operator or function: {function}")
