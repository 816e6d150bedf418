"""Message bodies: values with a kind and a version, so that old and new code can share a queue."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

from partita.errors import ModelError, OperationError, PoisonMessage


class Body(Struct, frozen=True):
    """The body of a message.

        class Admit(Body, frozen=True):
            kind = "admit"
            request_id: str

    is sent as `{"v": 1, "kind": "admit", "request_id": …}`. A new field needs a default. Any other change needs a new
    class with a higher `version`; consumers decode both classes until no old message is left.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1


class _Head(Struct, frozen=True):
    v: int
    kind: str


class BodyDecoder:
    """Decodes the bodies that a consumer knows.

    Raises:
        ModelError: a body has no kind, a field that JSON cannot hold, or the kind and version of another body.
    """

    def __init__(self, *bodies: type[Body]) -> None:
        self._decoders: Final = {_head_of(body): _decoder(body) for body in bodies}
        if len(self._decoders) < len(bodies):
            hint = "Give a new body its own kind, and a changed one a higher version."
            raise ModelError("Two bodies have the same kind and version.", owner=bodies, hint=hint)

    def decode(self, text: str) -> Any:
        """Decode the body of a message.

        Raises:
            PoisonMessage: the text is not one of these bodies. OperationError: it is not text.
        """
        if not isinstance(text, str):
            hint = "Pass message.body."
            raise OperationError(f"The body of a message is a str, not {type(text).__name__}.", hint=hint)
        try:
            head = msgspec.json.decode(text, type=_Head)
            decoder = self._decoders.get((head.kind, head.v))
            if decoder is None:
                raise PoisonMessage(f"No known body has kind {head.kind!r} and version {head.v}.", body=text)
            return decoder.decode(text)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:  # the last for deeply nested text
            raise PoisonMessage(f"A message cannot be read: {error}.", body=text) from error


def encode_body(body: Body) -> str:
    """Encode a body as JSON with its kind and version.

    Raises:
        ModelError: the class of the body has no kind, or a field whose name is reserved.
        OperationError: it is not a body, or JSON cannot hold the value of a field.
    """
    if not isinstance(body, Body):
        hint = "Pass an instance of a subclass of Body."
        raise OperationError(f"A body is an instance of Body, not {type(body).__name__}.", hint=hint)
    kind, version = _head_of(type(body))
    fields = {name: getattr(body, name) for name in body.__struct_fields__}
    try:
        return msgspec.json.encode({"v": version, "kind": kind, **fields}).decode()
    except (TypeError, ValueError, RecursionError) as error:
        hint = "Use str, int, float, bool, None, lists, dicts, dates and times."
        raise OperationError(f"{type(body).__name__} cannot be encoded as JSON: {error}.", hint=hint) from error


def _head_of(body: object) -> tuple[str, int]:
    """The kind and version of a body.

    Raises:
        ModelError: the declaration of the body is wrong.
    """
    if not (isinstance(body, type) and issubclass(body, Body)):
        hint = "Declare it as `class Admit(Body, frozen=True)`."
        raise ModelError(f"{body!r:.80} is not a subclass of Body.", owner=body, hint=hint)
    kind, version = getattr(body, "kind", None), body.version
    if not (isinstance(kind, str) and kind and type(version) is int):
        hint = 'Add `kind = "admit"`, and, if needed, `version = 2`, without annotations.'
        raise ModelError(f"{body.__name__} needs a kind, a str, and a version, an int.", owner=body, hint=hint)
    if reserved := {"v", "kind", "version"}.intersection(body.__struct_fields__):
        message = f"The fields {', '.join(sorted(reserved))} of {body.__name__} would replace its kind or version."
        raise ModelError(message, owner=body, hint="Rename them.")
    return kind, version


def _decoder(body: type[Body]) -> msgspec.json.Decoder[Body]:
    try:
        return msgspec.json.Decoder(body)
    except TypeError as error:
        hint = "Use types that JSON can hold."
        raise ModelError(f"{body.__name__} cannot be decoded from JSON: {error}.", owner=body, hint=hint) from error
