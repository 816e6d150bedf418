"""Response models with camel-case names such as `versionNumber`, as tables often have them, and instants in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel

from partita.model import instant_text

Instant = Annotated[
    datetime,
    PlainSerializer(instant_text, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-12-01T10:00:00.000000Z"]}),
]
"""An instant in UTC, to the microsecond."""


class CamelModel(BaseModel):
    """A part of a response with camel-case field names, as in the table: `versionNumber`."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)
