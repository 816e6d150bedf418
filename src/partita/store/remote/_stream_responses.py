"""The shapes of the responses about streams, named as the API names them."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from partita.store._schema import StreamView
from partita.store.remote._responses import TaggedItem

SequenceNumber: TypeAlias = Annotated[str, Meta(pattern="^[0-9]{1,40}$")]
"""AWS gives at most 40 digits."""

_TTL: Final = "dynamodb.amazonaws.com"


class StreamOutput(Struct, frozen=True, rename="pascal"):
    """One stream of a list."""

    stream_arn: str


class ListStreamsOutput(Struct, frozen=True, rename="pascal"):
    """Of ListStreams."""

    streams: list[StreamOutput]


class SequenceNumberRange(Struct, frozen=True, rename="pascal"):
    """The first and the last number of a shard, as far as they are known."""

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
    """Of DescribeStream."""

    stream_description: DescriptionOutput


class GetShardIteratorOutput(Struct, frozen=True, rename="pascal"):
    """Of GetShardIterator."""

    shard_iterator: str


class ChangeOutput(Struct, frozen=True, rename="pascal"):
    """What a record says of an item."""

    sequence_number: SequenceNumber
    keys: TaggedItem
    approximate_creation_date_time: float
    size_bytes: int
    old_image: TaggedItem | None = None
    new_image: TaggedItem | None = None


class IdentityOutput(Struct, frozen=True):
    """Who made a change, where it was not a client; the API writes the name in one way, its examples in another."""

    PrincipalId: str | None = None
    principalId: str | None = None  # noqa: N815 - as it is sent

    @property
    def is_ttl(self) -> bool:
        """Whether the item had expired."""
        return _TTL in (self.PrincipalId, self.principalId)


class RecordOutput(Struct, frozen=True, rename="camel"):
    """One record."""

    event_name: Literal["INSERT", "MODIFY", "REMOVE"]
    dynamodb: ChangeOutput
    user_identity: IdentityOutput | None = None


class GetRecordsOutput(Struct, frozen=True, rename="pascal"):
    """Of GetRecords."""

    records: list[RecordOutput]
    next_shard_iterator: str | None = None
