"""The root of the tree, and errors of declarations."""

from __future__ import annotations

from typing import ClassVar


class PartitaError(Exception):
    """The root of the tree. `code` is stable; `hint` says what to do."""

    code: ClassVar[str] = "partita"
    hint: str = ""

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        super().__init_subclass__()
        if code is not None:
            cls.code = code

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if hint:
            self.hint = hint

    def __str__(self) -> str:
        if not (self.message and self.hint):
            return self.message or self.hint
        end = "" if self.message.endswith((".", "?", "!", ":")) else "."  # DynamoDB's own messages have none
        return f"{self.message}{end} {self.hint}"


class ModelError(PartitaError, code="model"):
    """A declaration is wrong. `owner` is the class, table or pattern that was being declared."""

    def __init__(self, message: str, *, owner: object = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.owner = owner
