"""Opens a queue by its address, in the format of `--queue`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from partita.errors import OperationError
from partita.queue._checks import check_name
from partita.queue._interface import Queue, QueuePolicy
from partita.store import is_path, profile_of, split_address

if TYPE_CHECKING:
    from partita.store.remote import GivenCredentials

_ADDRESSES: Final = "Pass sqs://REGION, a URL that begins with http:// or https://, or the path of a folder."


def open_queue(
    address: str | Path,
    name: str,
    policy: QueuePolicy | None = None,
    *,
    profile: str | None = None,
    credentials: GivenCredentials | None = None,
) -> Queue:
    """Open the queue with this name at an address.

    | address | queue |
    | --- | --- |
    | `sqs://ap-southeast-2` | SQS in an AWS region: the FIFO queue `NAME.fifo`, with dead letters in `NAME-dead.fifo` |
    | `sqs://` | the same in the region from the environment or profile |
    | `sqs://eu-west-1?profile=work` | the same with the credentials of a profile |
    | `http://127.0.0.1:4566`, `https://…` | a server with SQS's protocol |
    | anything else | a folder of embedded queues, with one file per queue |

    Args:
        address: see the table.
        name: the name of the queue.
        policy: the settings for creating the queue.
        profile: a profile of the AWS configuration files, if the address has none.
        credentials: as for `RemoteStore`.

    Raises:
        OperationError: the address is invalid. StoreError: the file cannot be opened.
    """
    if not isinstance(address, str | Path):
        raise OperationError(f"{address!r:.80} is not the address of a queue.", hint=_ADDRESSES)
    parts = split_address(str(address))
    if parts.scheme in ("http", "https"):
        from partita.queue.sqs import SqsQueue  # noqa: PLC0415 - only users of SQS need the extra `aws`

        return SqsQueue(name, str(address), profile=profile, credentials=credentials, policy=policy)
    if parts.scheme == "sqs":
        from partita.queue.sqs import SqsQueue  # noqa: PLC0415 - as above

        profile = profile_of(str(address), profile)
        return SqsQueue(name, region=parts.netloc or None, profile=profile, credentials=credentials, policy=policy)
    if not is_path(str(address)):
        raise OperationError(f"{str(address)!r} is not the address of a queue.", hint=_ADDRESSES)
    if profile is not None or credentials is not None:
        hint = "Omit them, or pass the address of a queue on SQS."
        raise OperationError(f"{str(address)!r} is a folder, which does not use a profile or credentials.", hint=hint)
    from partita.queue.embedded import EmbeddedQueue  # noqa: PLC0415 - as above

    return EmbeddedQueue(queue_file(Path(address), name), name, policy=policy)


def queue_file(folder: str | Path, name: str) -> Path:
    """The path of the file of an embedded queue.

    Raises:
        OperationError: the name cannot be part of the name of a file.
    """
    check_name(name)
    return Path(folder) / f"queue-{name}.db"
