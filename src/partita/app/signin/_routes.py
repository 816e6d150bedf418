"""The routes with which pages sign in, below `/signin/api`, and the page to which an issuer sends people back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from partita.app.signin._demo import DemoSignIn
from partita.app.signin._issuer_client import CodeExchange, IssuerClient
from partita.app.signin._same_origin import own_origin
from partita.http import CurrentCaller, HttpProblem, Role, ServiceState, handle_errors, run_with

PAGES: Final = Path(__file__).parent / "pages"
"""The folder of the pages for signing in."""
CALLBACK: Final = "/signin/"

_Secret = Annotated[str, Field(min_length=16, max_length=256, pattern=r"^[A-Za-z0-9._~-]+$")]


class SignIn(Struct, frozen=True):
    """The ways to sign in at the pages, besides with a token that one already has."""

    demo: DemoSignIn | None = None
    """Sign-in by one click on this machine; None for a server that others can reach."""
    client: IssuerClient | None = None
    """Sign-in with an identity provider; None if there is none."""

    @property
    def issuer_name(self) -> str | None:
        """The name of the identity provider that pages show."""
        return None if self.client is None else urlsplit(self.client.issuer.url).hostname


class DemoRequest(BaseModel):
    """The role to sign in as."""

    model_config = ConfigDict(extra="forbid")

    role: Role


class LinkRequest(BaseModel):
    """The code of a sign-in link."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=256)


class CodeRequest(BaseModel):
    """The code that the issuer sent back, and the secrets of the sign-in."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, max_length=4_096)
    code_verifier: _Secret
    nonce: _Secret


class TokenGiven(BaseModel):
    """A token, which the page stores until its tab is closed."""

    token: str


class Me(BaseModel):
    """The user of a page."""

    user_id: str
    role: Role


class Authorization(BaseModel):
    """The address to which the page sends the browser, and parameters for it."""

    authorize: str
    client_id: str
    scope: str


def signin_api(sign_in: SignIn, state: ServiceState[None]) -> FastAPI:
    """Return the app with the routes for signing in."""
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    run_with(app, state)
    handle_errors(app, reads_with_head=True)

    @app.get("/me")
    async def show_me(caller: CurrentCaller) -> Me:
        """Return the user that the request's token names; 401 if the token is not valid."""
        return Me(user_id=caller.user_id, role=caller.role)

    @app.post("/demo")
    async def sign_in_as_demo(request: Request, wanted: DemoRequest) -> TokenGiven:
        """Sign in by one click: return a token for the demo user or for an operator."""
        if sign_in.demo is None:
            raise HttpProblem(404, "not_found", "This server does not offer a demo user.")
        return TokenGiven(token=await run_in_threadpool(sign_in.demo.token, request, wanted.role))

    @app.post("/link")
    async def sign_in_by_link(request: Request, given: LinkRequest) -> TokenGiven:
        """Sign in by the link in the terminal: return a token for its code, once."""
        if sign_in.demo is None:
            raise HttpProblem(404, "not_found", "There are no sign-in links here.")
        return TokenGiven(token=await run_in_threadpool(sign_in.demo.token_of_link, request, given.code))

    @app.get("/issuer")
    async def show_issuer() -> Authorization:
        """Return where and with which parameters to sign in."""
        client = _client(sign_in)
        endpoints = await run_in_threadpool(client.endpoints)
        return Authorization(authorize=endpoints.authorize, client_id=client.client_id, scope=client.scope)

    @app.post("/token")
    async def exchange_code(request: Request, given: CodeRequest) -> TokenGiven:
        """Return a token for the code that the issuer gave the page."""
        client = _client(sign_in)
        back = own_origin(request) + CALLBACK
        exchange = CodeExchange(given.code, given.code_verifier, given.nonce, back)
        return TokenGiven(token=await run_in_threadpool(client.token, exchange))

    return app


def _client(sign_in: SignIn) -> IssuerClient:
    if sign_in.client is None:
        raise HttpProblem(404, "not_found", "This server has no identity provider.", hint="Start it with --issuer URL.")
    return sign_in.client
