"""Sign-in at the pages: with an identity provider, or on this machine as a demo user."""

from partita.app.signin._demo import DemoSignIn
from partita.app.signin._issuer_client import IssuerClient
from partita.app.signin._link_codes import LinkCodes
from partita.app.signin._routes import PAGES, SignIn, signin_api

__all__ = ["PAGES", "DemoSignIn", "IssuerClient", "LinkCodes", "SignIn", "signin_api"]
