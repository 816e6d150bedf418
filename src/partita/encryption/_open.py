"""Opening keys by their address, in the format of `PARTITA_KEYS`."""

from __future__ import annotations

from partita.encryption._kms import KmsKeys
from partita.encryption._local import LocalKeys
from partita.encryption._provider import KeyProvider

_KMS = "kms:"


def open_keys(address: str) -> KeyProvider | None:
    """Open the keys of encrypted fields at an address: a file, or `kms:KEY`; None if the address is empty.

    Raises:
        OperationError: the keys cannot be used. SecretExposed: other users can read the file.
    """
    if address.startswith(_KMS):
        return KmsKeys(address.removeprefix(_KMS))
    return LocalKeys.from_file(address) if address else None
