"""Message bodies: values with a kind and a version, so that old and new code can share a queue."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

from partita.errors import ModelError, PoisonMessage


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
        ModelError: two bodies have the same kind and version.
    """

    def __init__(self, *bodies: type[Body]) -> None:
        self._decoders: Final = {(body.kind, body.version): msgspec.json.Decoder(body) for body in bodies}
        if len(self._decoders) < len(bodies):
            raise ModelError("Two bodies have the same kind and version.", owner=bodies)

    def decode(self, text: str) -> Any:
        """Decode the body of a message.

        Raises:
            PoisonMessage: the text is not one of these bodies.
        """
        try:
            head = msgspec.json.decode(text, type=_Head)
            decoder = self._decoders.get((head.kind, head.v))
            if decoder is None:
                raise PoisonMessage(f"No known body has kind {head.kind!r} and version {head.v}.", body=text)
            return decoder.decode(text)
        except msgspec.MsgspecError as error:
            raise PoisonMessage(f"A message cannot be read: {error}.", body=text) from error


def encode_body(body: Body) -> str:
    """Encode a body as JSON with its kind and version."""
    fields = {name: getattr(body, name) for name in body.__struct_fields__}
    return msgspec.json.encode({"v": body.version, "kind": body.kind, **fields}).decode()
