"""Every error that Partita raises, each with a stable code and a hint that says what to do.

PartitaError
├── ModelError          a declaration is wrong; raised when the class or pattern is declared
├── OperationError      an operation cannot be built or sent in this form
│   └── GuardrailError  the operation is refused before it reaches the store
├── RequestError        the store refused the request
│   └── ConditionFailed a condition was false; carries the current item
└── StoreError          the store itself has failed

All others are subclasses of these; `docs/errors.md` lists them with their codes.
"""

from __future__ import annotations

from partita.errors._conditions import (
    AlreadyExists,
    ConditionFailed,
    IllegalTransition,
    ItemMissing,
    LeaseHeld,
    LeaseLost,
    LimitReached,
    RateLimited,
    UniqueTaken,
    VersionConflict,
)
from partita.errors._operations import (
    BudgetExceeded,
    CopyRefused,
    CopyTakenOver,
    DataNewer,
    EventRefused,
    ExportDamaged,
    ExtraMissing,
    FieldSealed,
    GuardrailError,
    InvalidCursor,
    InvalidItem,
    InvalidKey,
    LimitExceeded,
    OperationError,
    PoisonMessage,
    ScanRefused,
    UnclaimedItem,
    UnknownKey,
)
from partita.errors._points import InstantOutOfRange, PastRefused, RecoveryDisabled
from partita.errors._requests import (
    AccessDenied,
    BucketNotFound,
    IdempotencyInProgress,
    IdempotencyMismatch,
    ObjectChanged,
    QueueNotFound,
    RebuildRequired,
    RequestError,
    SerializationFailed,
    StreamTrimmed,
    TableInUse,
    TableNotFound,
    Throttled,
    Unprocessed,
    ValidationFailed,
)
from partita.errors._root import (
    ModelError,
    PartitaError,
)
from partita.errors._store import (
    SecretExposed,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMoved,
    StoreNewer,
    StoreReadOnly,
    StoreUnavailable,
)
from partita.errors._transactions import (
    Reason,
    TokenInProgress,
    TokenMismatch,
    TransactionCancelled,
    TransactionConflict,
)

__all__ = [
    "AccessDenied",
    "AlreadyExists",
    "BucketNotFound",
    "BudgetExceeded",
    "ConditionFailed",
    "CopyRefused",
    "CopyTakenOver",
    "DataNewer",
    "EventRefused",
    "ExportDamaged",
    "ExtraMissing",
    "FieldSealed",
    "GuardrailError",
    "IdempotencyInProgress",
    "IdempotencyMismatch",
    "IllegalTransition",
    "InstantOutOfRange",
    "InvalidCursor",
    "InvalidItem",
    "InvalidKey",
    "ItemMissing",
    "LeaseHeld",
    "LeaseLost",
    "LimitExceeded",
    "LimitReached",
    "ModelError",
    "ObjectChanged",
    "OperationError",
    "PartitaError",
    "PastRefused",
    "PoisonMessage",
    "QueueNotFound",
    "RateLimited",
    "Reason",
    "RebuildRequired",
    "RecoveryDisabled",
    "RequestError",
    "ScanRefused",
    "SecretExposed",
    "SerializationFailed",
    "StoreBusy",
    "StoreClosed",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreMoved",
    "StoreNewer",
    "StoreReadOnly",
    "StoreUnavailable",
    "StreamTrimmed",
    "TableInUse",
    "TableNotFound",
    "Throttled",
    "TokenInProgress",
    "TokenMismatch",
    "TransactionCancelled",
    "TransactionConflict",
    "UnclaimedItem",
    "UniqueTaken",
    "UnknownKey",
    "Unprocessed",
    "ValidationFailed",
    "VersionConflict",
]
