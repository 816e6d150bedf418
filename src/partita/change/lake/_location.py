"""Locations of lakes: a folder, or a prefix in a bucket of S3 or of a server with the same protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, Self, TypeAlias

from partita.change.lake._lock import FolderLock
from partita.change.lake._s3 import S3Location


class Hold(Protocol):
    """Keeps other writers out of a table of a lake until it is closed."""

    def check(self) -> None:
        """Check that no other writer has acquired it.

        Raises:
            LeaseLost: another writer has acquired it.
        """
        ...

    def abandon(self) -> None:
        """Release it, and remove anything that acquiring it created."""
        ...

    def close(self) -> None:
        """Release it."""
        ...


class LakeLocation(Protocol):
    """A location of Delta tables, with locations below it."""

    @property
    def uri(self) -> str:
        """The URI for Delta."""
        ...

    @property
    def name(self) -> str:
        """The last part of its path."""
        ...

    def child(self, *names: str) -> Self:
        """Return a location below it."""
        ...

    def options(self) -> dict[str, str] | None:
        """Return Delta's options for access (credentials, and how to commit); None if it needs none."""
        ...

    def children(self) -> list[str]:
        """Return the names of the locations directly below it; none if it does not exist."""
        ...

    def hold(self, owner: str | None = None) -> Hold:
        """Keep other writers out. Writers with the same owner share the location; without an owner, nobody does.

        Raises:
            StoreBusy: another writer holds it. StoreReadOnly: it cannot be written. StoreError: it cannot be reached.
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
        """Return a folder in it."""
        return FolderLocation(self.path.joinpath(*names))

    def options(self) -> None:
        """Return None: a folder needs no options."""

    def children(self) -> list[str]:
        """Return the names of the folders in it."""
        return sorted(path.name for path in self.path.iterdir() if path.is_dir()) if self.path.is_dir() else []

    def hold(self, owner: str | None = None) -> FolderLock:
        """Lock it: exclusively, or with an owner, together with other writers that have one."""
        return FolderLock(self.path, shared=owner is not None)


Place: TypeAlias = str | Path | LakeLocation
"""The location of a lake as an argument: the path of a folder, `s3://bucket/prefix`, or a location object."""


def location_of(place: Place, profile: str | None = None) -> LakeLocation:
    """Return the location object for a place.

    Raises:
        OperationError: the place is a URL that is not valid.
    """
    if not isinstance(place, str | Path):
        return place
    if "://" in str(place):
        return S3Location.parse(str(place), profile=profile)
    return FolderLocation(Path(place))
