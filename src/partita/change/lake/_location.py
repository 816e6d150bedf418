"""Where a lake is: a folder, or a prefix in a bucket of S3 or of a server that speaks its protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, Self, TypeAlias

from partita.change.lake._lock import FolderLock
from partita.change.lake._s3 import S3Location


class Hold(Protocol):
    """Keeps other writers out of a table of a lake until it is closed."""

    def check(self) -> None:
        """Make sure that nobody else has it.

        Raises:
            LeaseLost: somebody else has.
        """
        ...

    def abandon(self) -> None:
        """Let go, and leave nothing behind that was not there before."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class LakeLocation(Protocol):
    """A place that Delta tables are in, and places below it."""

    @property
    def uri(self) -> str:
        """As Delta names it."""
        ...

    @property
    def name(self) -> str:
        """The last part of its path."""
        ...

    def child(self, *names: str) -> Self:
        """A place below it."""
        ...

    def options(self) -> dict[str, str] | None:
        """What Delta needs to reach it: credentials, and how commits are made; None where it needs nothing."""
        ...

    def children(self) -> list[str]:
        """The names of the places right below it; none where there is nothing."""
        ...

    def hold(self, owner: str | None = None) -> Hold:
        """Keep other writers out. Writers that name the same owner share it; without one, nobody does.

        Raises:
            StoreBusy: another has it. StoreReadOnly: it cannot be written. StoreError: it cannot be reached.
        """
        ...


class FolderLocation:
    """A folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def uri(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.name

    def child(self, *names: str) -> FolderLocation:
        """A folder in it."""
        return FolderLocation(self.path.joinpath(*names))

    def options(self) -> None:
        """It needs nothing."""

    def children(self) -> list[str]:
        """The folders in it."""
        return sorted(path.name for path in self.path.iterdir() if path.is_dir()) if self.path.is_dir() else []

    def hold(self, owner: str | None = None) -> FolderLock:
        """Lock it: alone, or together with others that name an owner."""
        return FolderLock(self.path, shared=owner is not None)


Place: TypeAlias = str | Path | LakeLocation
"""Where a lake is, as programs say it: the path of a folder, `s3://bucket/prefix`, or a location."""


def location_of(place: Place, profile: str | None = None) -> LakeLocation:
    """The location that is meant.

    Raises:
        OperationError: it is a URL that is not understood.
    """
    if not isinstance(place, str | Path):
        return place
    if "://" in str(place):
        return S3Location.parse(str(place), profile=profile)
    return FolderLocation(Path(place))
