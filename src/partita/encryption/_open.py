"""Opening keys by their address, as `PARTITA_KEYS` has it."""

from __future__ import annotations

from partita.encryption._kms import KmsKeys
from partita.encryption._local import LocalKeys
from partita.encryption._provider import KeyProvider

_KMS = "kms:"


def open_keys(address: str) -> KeyProvider | None:
    """The keys of encrypted fields at an address: a file, or `kms:KEY`; None where it is empty.

    Raises:
        OperationError: they cannot be used. SecretExposed: other users can read the file.
    """
    if address.startswith(_KMS):
        return KmsKeys(address.removeprefix(_KMS))
    return LocalKeys.from_file(address) if address else None
