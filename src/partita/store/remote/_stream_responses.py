"""The types of responses about streams, with the names of the API."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from partita.store._received import TaggedItem
from partita.store._schema import StreamView

SequenceNumber: TypeAlias = Annotated[str, Meta(pattern="^[0-9]{1,40}$")]
"""A sequence number; AWS's have at most 40 digits."""

_TTL: Final = "dynamodb.amazonaws.com"


class StreamOutput(Struct, frozen=True, rename="pascal"):
    """One stream of a list."""

    stream_arn: str


class ListStreamsOutput(Struct, frozen=True, rename="pascal"):
    """The response of ListStreams."""

    streams: list[StreamOutput]


class SequenceNumberRange(Struct, frozen=True, rename="pascal"):
    """The first and the last sequence number of a shard, if they are known."""

    starting_sequence_number: SequenceNumber | None = None
    ending_sequence_number: str | None = None


class ShardOutput(Struct, frozen=True, rename="pascal"):
    """One shard of a description."""

    shard_id: str
    sequence_number_range: SequenceNumberRange
    parent_shard_id: str | None = None


class DescriptionOutput(Struct, frozen=True, rename="pascal"):
    """A stream with a page of its shards."""

    stream_status: str
    stream_view_type: StreamView
    shards: list[ShardOutput]
    last_evaluated_shard_id: str | None = None


class DescribeStreamOutput(Struct, frozen=True, rename="pascal"):
    """The response of DescribeStream."""

    stream_description: DescriptionOutput


class GetShardIteratorOutput(Struct, frozen=True, rename="pascal"):
    """The response of GetShardIterator."""

    shard_iterator: str


class ChangeOutput(Struct, frozen=True, rename="pascal"):
    """The change of an item in a record."""

    sequence_number: SequenceNumber
    keys: TaggedItem
    approximate_creation_date_time: float
    size_bytes: int
    old_image: TaggedItem | None = None
    new_image: TaggedItem | None = None


class IdentityOutput(Struct, frozen=True):
    """The author of a change other than a client; the field's name differs between the API and its examples."""

    PrincipalId: str | None = None
    principalId: str | None = None  # noqa: N815 - the name in the response

    @property
    def is_ttl(self) -> bool:
        """Whether the item was deleted because it had expired."""
        return _TTL in (self.PrincipalId, self.principalId)


class RecordOutput(Struct, frozen=True, rename="camel"):
    """One record of a stream."""

    event_name: Literal["INSERT", "MODIFY", "REMOVE"]
    dynamodb: ChangeOutput
    user_identity: IdentityOutput | None = None


class GetRecordsOutput(Struct, frozen=True, rename="pascal"):
    """The response of GetRecords."""

    records: list[RecordOutput]
    next_shard_iterator: str | None = None
