"""The targets: each is given any bytes, and raises only where something is broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from fuzz.targets.expression import expression
from fuzz.targets.import_file import import_file
from fuzz.targets.key_template import key_template
from fuzz.targets.partiql import partiql
from fuzz.targets.stream_record import stream_record

Target: TypeAlias = Callable[[bytes], None]

TARGETS: Final[Mapping[str, Target]] = MappingProxyType(
    {target.__name__: target for target in (expression, partiql, stream_record, import_file, key_template)}
)
"""By name."""
