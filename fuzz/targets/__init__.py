"""The targets: each accepts any bytes, and raises only if something is broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from fuzz.targets.cursor import cursor
from fuzz.targets.expression import expression
from fuzz.targets.import_file import import_file
from fuzz.targets.key_template import key_template
from fuzz.targets.partiql import partiql
from fuzz.targets.stream_record import stream_record
from fuzz.targets.wire_request import wire_request
from fuzz.targets.wire_response import wire_response

Target: TypeAlias = Callable[[bytes], None]

_ALL: Final[tuple[Target, ...]] = (
    expression,
    partiql,
    cursor,
    wire_request,
    wire_response,
    stream_record,
    import_file,
    key_template,
)
TARGETS: Final[Mapping[str, Target]] = MappingProxyType({target.__name__: target for target in _ALL})
"""The targets by name."""
