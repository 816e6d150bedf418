"""The identity of callers: tokens of this installation or of an OpenID Connect issuer, and the callers they name."""

from partita.http.identity._caller import Caller, Role, Verifier, unauthenticated
from partita.http.identity._identity import Identity
from partita.http.identity._issuer import Issuer
from partita.http.identity._published_keys import FETCH_ERRORS, checked_address, fetch_document
from partita.http.identity._token_policy import TokenKey, TokenPolicy

__all__ = [
    "FETCH_ERRORS",
    "Caller",
    "Identity",
    "Issuer",
    "Role",
    "TokenKey",
    "TokenPolicy",
    "Verifier",
    "checked_address",
    "fetch_document",
    "unauthenticated",
]
