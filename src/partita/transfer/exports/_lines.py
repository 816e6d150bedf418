"""The lines of an export: items or changes of items, as DynamoDB's JSON or as Ion."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

import msgspec

from partita.errors import OperationError
from partita.store import wire_item
from partita.values import Item, kind_of

ExportFormat: TypeAlias = Literal["DYNAMODB_JSON", "ION"]
"""The formats of an export to a bucket."""

_encode: Final = msgspec.json.Encoder().encode
_SETS: Final = ("SS", "NS", "BS")


def item_line(item: Item, kind: ExportFormat) -> bytes:
    """Return the line of an item in a full export."""
    if kind == "ION":
        return _ion({"Item": _ion_map(item)})
    return _encode({"Item": wire_item(item)}) + b"\n"


def change_line(keys: Item, old: Item | None, new: Item | None, at: float, kind: ExportFormat) -> bytes:
    """Return the line of an item in an incremental export; an image that is None is omitted."""
    images = {name: image for name, image in (("OldImage", old), ("NewImage", new)) if image is not None}
    time = round(at * 1_000_000)
    if kind == "ION":
        shown = {name: _ion_map(image) for name, image in images.items()}
        record = {"Metadata": {"WriteTimestampMicros": Decimal(time)}, "Keys": _ion_map(keys), **shown}
        return _ion({"Record": record})
    metadata = {"WriteTimestampMicros": {"N": str(time)}}
    shown_json = {name: wire_item(image) for name, image in images.items()}
    return _encode({"Metadata": metadata, "Keys": wire_item(keys), **shown_json}) + b"\n"


def require_format(kind: ExportFormat) -> None:
    """Refuse a format that cannot be written here.

    Raises:
        OperationError: the extra `bulk` is not installed.
    """
    if kind == "ION":
        try:
            import amazon.ion.simpleion  # noqa: F401, PLC0415 - of the extra `bulk`
        except ImportError as error:
            hint = "Install it: pip install 'partita[bulk]'."
            raise OperationError("Ion needs the extra bulk.", hint=hint) from error


def _ion(value: Mapping[str, Any]) -> bytes:
    from amazon.ion.simpleion import dumps  # noqa: PLC0415 - of the extra `bulk`

    return str(dumps(value, binary=False)).encode() + b"\n"


def _ion_map(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _ion_value(value) for name, value in item.items()}


def _ion_value(value: Any) -> Any:
    from amazon.ion.core import IonType  # noqa: PLC0415 - of the extra `bulk`
    from amazon.ion.simple_types import IonPyList  # noqa: PLC0415

    kind = kind_of(value)
    if kind in _SETS:
        members = [_ion_value(member) for member in sorted(value)]
        return IonPyList.from_value(IonType.LIST, members, (f"$dynamodb_{kind}",))
    if kind == "M":
        return _ion_map(value)
    if kind == "L":
        return [_ion_value(member) for member in value]
    return Decimal(value) if kind == "N" else value
