from partita.encryption._fields import FieldKeys
from partita.encryption._kms import KmsKeys
from partita.encryption._local import LocalKeys
from partita.encryption._open import open_keys
from partita.encryption._provider import DataKey, KeyChain, KeyProvider
from partita.encryption._sealing import as_if_sealed

__all__ = [
    "DataKey",
    "FieldKeys",
    "KeyChain",
    "KeyProvider",
    "KmsKeys",
    "LocalKeys",
    "as_if_sealed",
    "open_keys",
]
