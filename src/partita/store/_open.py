"""Opening a store by its address, as given to `--store`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, parse_qs, urlsplit

from partita.errors import OperationError
from partita.store._interface import Store

if TYPE_CHECKING:
    from partita.store.remote import GivenCredentials

_OF_A_SERVER: Final = re.compile(r".*://|(dynamodb|sqs|https?)$|[\w.-]+:[0-9]+(/.*)?$")
"""Matches addresses of servers: with an unknown scheme, a bare scheme, or a host and port without a scheme."""

_ADDRESSES: Final = "Use dynamodb://REGION, a URL that begins with http:// or https://, or the path of a file."


def open_store(address: str, *, profile: str | None = None, credentials: GivenCredentials | None = None) -> Store:
    """The store at an address.

    | address | store |
    | --- | --- |
    | `dynamodb://ap-southeast-2` | DynamoDB in an AWS region |
    | `dynamodb://` | in the region that the environment or profile names |
    | `dynamodb://eu-west-1?profile=work` | with the credentials of a profile |
    | `http://127.0.0.1:8000`, `https://…` | a server that speaks DynamoDB's protocol |
    | anything else | the file of an embedded store |

    Args:
        address: as in the table.
        profile: a profile of the AWS configuration files, if the address does not contain one.
        credentials: see `RemoteStore`.

    Raises:
        OperationError: the address cannot be used. StoreError: the file cannot be opened.
    """
    parts = split_address(address)
    if parts.scheme in ("http", "https"):
        from partita.store.remote import RemoteStore  # noqa: PLC0415 - needs the extra `aws`

        return RemoteStore(address, profile=profile, credentials=credentials)
    if parts.scheme == "dynamodb":
        from partita.store.remote import RemoteStore  # noqa: PLC0415 - as above

        profile = profile_of(address, profile)
        return RemoteStore(region=parts.netloc or None, profile=profile, credentials=credentials)
    if not address or not is_path(address):
        raise OperationError(f"{address!r} is not a valid address of a store.", hint=_ADDRESSES)
    if profile is not None or credentials is not None:
        raise OperationError(f"{address!r} is a file, which does not use a profile or credentials.")
    from partita.store.embedded import EmbeddedStore  # noqa: PLC0415 - loaded only when needed

    return EmbeddedStore(address)


def split_address(address: str) -> SplitResult:
    """The parts of an address.

    Raises:
        OperationError: it is a URL with a host that cannot be read.
    """
    try:
        return urlsplit(address)
    except ValueError as error:
        raise OperationError(f"{address!r} is not a URL: {error}.", hint="Correct the host, or write a path.") from None


def is_path(address: str) -> bool:
    """Whether an address is the path of a file or folder, and not an incomplete address of a server."""
    return _OF_A_SERVER.match(address) is None


def profile_of(address: str, given: str | None = None) -> str | None:
    """The profile in the query of a `dynamodb://` address, or else the given one.

    Raises:
        OperationError: the address has other parts, or the two profiles differ.
    """
    options = parse_qs(urlsplit(address).query)
    if options.keys() - {"profile"} or urlsplit(address).path.strip("/"):
        raise OperationError(f"{address!r} contains more than a region and a profile.")
    named = options["profile"][0] if options else None
    if named is not None and given not in (None, named):
        raise OperationError(f"The address names the profile {named!r}, but {given!r} is given.")
    return named or given
