"""Operations on tables and on what DynamoDB knows of them: billing, encryption, tags, expiry, insights, policies."""

from partita.wire.tables._account import LIMITS, fixed
from partita.wire.tables._describe import table_identity
from partita.wire.tables._existing import existing
from partita.wire.tables._operations import table_operations
from partita.wire.tables._settings import ON_DEMAND, OWN, Policy, Settings, read_settings
from partita.wire.tables._settings import TABLE as SETTINGS_TABLE

__all__ = [
    "LIMITS",
    "ON_DEMAND",
    "OWN",
    "SETTINGS_TABLE",
    "Policy",
    "Settings",
    "existing",
    "fixed",
    "read_settings",
    "table_identity",
    "table_operations",
]
