"""Operations on tables and their settings: billing, encryption, tags, expiry, insights, policies, backups."""

from partita.wire.tables._account import LIMITS, fixed
from partita.wire.tables._backups import unavailable as recovery_unavailable
from partita.wire.tables._describe import table_identity
from partita.wire.tables._existing import backed_up, existing
from partita.wire.tables._operations import table_operations
from partita.wire.tables._settings import ON_DEMAND, OWN, Policy, Settings, make_settings_table, read_settings
from partita.wire.tables._settings import TABLE as SETTINGS_TABLE

__all__ = [
    "LIMITS",
    "ON_DEMAND",
    "OWN",
    "SETTINGS_TABLE",
    "Policy",
    "Settings",
    "backed_up",
    "existing",
    "fixed",
    "make_settings_table",
    "read_settings",
    "recovery_unavailable",
    "table_identity",
    "table_operations",
]
