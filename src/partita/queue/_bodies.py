"""What messages say: values with a kind and a version, so that old and new code can share a queue."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

from partita.errors import ModelError, PoisonMessage


class Body(Struct, frozen=True):
    """What a message says.

        class Admit(Body, frozen=True):
            kind = "admit"
            request_id: str

    is sent as `{"v": 1, "kind": "admit", "request_id": …}`. A field that is added needs a default; any other change
    needs a new class with a higher `version`, which is read beside the old one until no old message is left.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1


class _Head(Struct, frozen=True):
    v: int
    kind: str


class BodyDecoder:
    """Decodes the bodies that a consumer knows.

    Raises:
        ModelError: two of them have the same kind and version.
    """

    def __init__(self, *bodies: type[Body]) -> None:
        self._decoders: Final = {(body.kind, body.version): msgspec.json.Decoder(body) for body in bodies}
        if len(self._decoders) < len(bodies):
            raise ModelError("Two bodies have the same kind and version.", owner=bodies)

    def decode(self, text: str) -> Any:
        """The body that a message carries.

        Raises:
            PoisonMessage: it is not one of these.
        """
        try:
            head = msgspec.json.decode(text, type=_Head)
            decoder = self._decoders.get((head.kind, head.v))
            if decoder is None:
                raise PoisonMessage(f"A message of kind {head.kind!r}, version {head.v}, is not known here.", body=text)
            return decoder.decode(text)
        except msgspec.MsgspecError as error:
            raise PoisonMessage(f"A message cannot be read: {error}.", body=text) from error


def encode_body(body: Body) -> str:
    """A body as it is sent: JSON with its kind and version."""
    fields = {name: getattr(body, name) for name in body.__struct_fields__}
    return msgspec.json.encode({"v": body.version, "kind": body.kind, **fields}).decode()
