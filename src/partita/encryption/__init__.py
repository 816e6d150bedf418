"""Encrypted fields: data keys from a key provider, and sealing of the values that are sent to a store."""

from partita._late import late_names

_NAMES = {
    "_fields": ("FieldKeys",),
    "_kms": ("KmsKeys",),
    "_local": ("LocalKeys",),
    "_open": ("open_keys",),
    "_provider": ("DataKey", "KeyChain", "KeyProvider"),
    "_sealing": ("as_if_sealed",),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
