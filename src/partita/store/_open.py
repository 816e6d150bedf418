"""Opening a store by its address, as `--store` takes it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from partita.errors import OperationError
from partita.store._interface import Store


def open_store(address: str) -> Store:
    """The store at an address.

    | address | store |
    | --- | --- |
    | `dynamodb://ap-southeast-2` | DynamoDB in an AWS region |
    | `dynamodb://` | in the region that the environment or profile names |
    | `dynamodb://eu-west-1?profile=work` | with the credentials of a profile |
    | `http://127.0.0.1:8000`, `https://…` | a server that speaks DynamoDB's protocol |
    | anything else | the file of an embedded store |

    Raises:
        OperationError: the address cannot be used. StoreError: the file cannot be opened.
    """
    parts = urlsplit(address)
    if parts.scheme in ("http", "https"):
        from partita.store.remote import RemoteStore  # noqa: PLC0415 - only who asks for it needs the extra `aws`

        return RemoteStore(address)
    if parts.scheme == "dynamodb":
        from partita.store.remote import RemoteStore  # noqa: PLC0415 - as above

        return RemoteStore(region=parts.netloc or None, profile=profile_of(address))
    if "://" in address:
        hint = "Write dynamodb://REGION, a URL that begins with http, or the path of a file."
        raise OperationError(f"{address!r} is not the address of a store.", hint=hint)
    from partita.store.embedded import EmbeddedStore  # noqa: PLC0415 - as above

    return EmbeddedStore(address)


def profile_of(address: str) -> str | None:
    """The profile that an address names after its region.

    Raises:
        OperationError: it says more than that.
    """
    options = parse_qs(urlsplit(address).query)
    if options.keys() - {"profile"} or urlsplit(address).path.strip("/"):
        raise OperationError(f"{address!r} has more than a region and a profile.")
    return options["profile"][0] if options else None
