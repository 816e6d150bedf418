"""The bodies of messages, and errors for those that cannot be read."""

from __future__ import annotations

import pytest

from partita.errors import ModelError, PoisonMessage
from partita.queue import Body, BodyDecoder, encode_body

pytestmark = pytest.mark.req("E02")


class Admit(Body, frozen=True):
    kind = "admit"
    request_id: str
    attempt: int = 0


class AdmitLater(Body, frozen=True):
    kind = "admit"
    version = 2
    request_id: str
    after: float


BODIES = BodyDecoder(Admit, AdmitLater)


def test_a_body_says_its_kind_and_version() -> None:
    assert encode_body(Admit("r1")) == '{"v":1,"kind":"admit","request_id":"r1","attempt":0}'


@pytest.mark.parametrize("body", [Admit("r1", 3), AdmitLater("r1", 2.5)])
def test_every_version_that_is_known_is_read(body: Body) -> None:
    assert BODIES.decode(encode_body(body)) == body


def test_a_message_of_older_code_gets_the_defaults_of_new_fields() -> None:
    assert BODIES.decode('{"v":1,"kind":"admit","request_id":"r1"}') == Admit("r1")


def test_a_message_of_newer_code_may_have_more_fields() -> None:
    assert BODIES.decode('{"v":1,"kind":"admit","request_id":"r1","colour":"red"}') == Admit("r1")


@pytest.mark.parametrize(
    "text",
    [
        '{"v":3,"kind":"admit","request_id":"r1"}',
        '{"v":1,"kind":"dismiss","request_id":"r1"}',
        '{"v":1,"kind":"admit"}',
        '{"v":1,"kind":"admit","request_id":7}',
        '{"v":"1","kind":"admit","request_id":"r1"}',
        '"admit"',
        "admit",
        "",
    ],
)
def test_anything_else_is_poison(text: str) -> None:
    with pytest.raises(PoisonMessage) as raised:
        BODIES.decode(text)
    assert raised.value.body == text


def test_two_bodies_of_one_kind_and_version_are_a_mistake() -> None:
    with pytest.raises(ModelError, match="same kind and version"):
        BodyDecoder(Admit, Admit)
