"""Writes of one item: put, insert, update, upsert and delete, which keep derived keys and versions consistent."""

from partita._late import late_names

_NAMES = {
    "_check": ("Check", "absent", "check"),
    "_delete": ("Delete", "delete"),
    "_images": ("DeleteImages", "Images", "PutImages", "UpdateImages", "UpsertImages", "WriteImages"),
    "_index_keys": ("UpdatePlan", "check_changes"),
    "_put": ("Put", "insert", "put"),
    "_reseal": ("reseal",),
    "_stored": ("bumped", "conflict", "missing"),
    "_update": ("Update", "update"),
    "_upsert": ("Upsert", "upsert"),
    "_write": ("ExplainFailure", "Write"),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)
