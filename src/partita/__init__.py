"""Partita: an access-pattern-first DynamoDB data layer for Python.

A public name is loaded when it is asked for, and with it what it needs: declaring a model loads neither store nor
session. Type checkers read the same names in `__init__.pyi`.
"""

_NAMES = {
    "partita.cost": (
        "Explanation",
        "explain",
    ),
    "partita.expressions": ("Condition",),
    "partita.model": (
        "REGISTRY",
        "Budget",
        "Change",
        "Compressed",
        "Derived",
        "Dimensions",
        "Encrypted",
        "Entity",
        "Index",
        "Key",
        "KeyFormat",
        "KeyOnly",
        "LocalIndex",
        "Prefix",
        "Rcu",
        "Ref",
        "Registry",
        "SearchedKb",
        "Shards",
        "Span",
        "Table",
        "Vector",
        "VectorIndex",
        "Version",
        "Wcu",
        "all_of",
        "any_of",
        "encrypted",
        "f",
        "not_",
    ),
    "partita.operations": (
        "Action",
        "BatchGet",
        "BatchWrite",
        "Check",
        "Collect",
        "CollectionPage",
        "Count",
        "Delete",
        "DeleteImages",
        "Get",
        "Images",
        "Operation",
        "Page",
        "Precondition",
        "Procedure",
        "Put",
        "PutImages",
        "Query",
        "Scored",
        "Search",
        "Transaction",
        "Update",
        "UpdateImages",
        "Upsert",
        "UpsertImages",
        "WalkResult",
        "absent",
        "batch_get",
        "batch_write",
        "check",
        "delete",
        "insert",
        "put",
        "reseal",
        "retry_on_conflict",
        "transact",
        "transact_get",
        "update",
        "upsert",
    ),
    "partita.patterns": (
        "Pattern",
        "collect",
        "count",
        "get",
        "pattern",
        "query",
        "search",
    ),
    "partita.runtime": (
        "Ulids",
        "new_ulid",
    ),
    "partita.session": (
        "AsyncItemStream",
        "AsyncSession",
        "Consumption",
        "ItemStream",
        "Meter",
        "Session",
        "Usage",
    ),
    "partita.store": ("TableNames",),
    "partita.store.embedded": ("EmbeddedStore",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

# pyright: reportUnsupportedDunderAll=false
__all__ = sorted(_MODULES, key=lambda name: (not name.isupper(), name))  # noqa: PLE0605 - it is a list


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    from importlib import import_module

    loaded = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return loaded


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
