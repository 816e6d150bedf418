"""A small local identity provider: it issues codes, checks PKCE, and signs tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

KEY = ec.generate_private_key(ec.SECP256R1())
CLIENT, AUDIENCE = "partita-pages", "partita"


class Provider:
    """Signs everybody in as `ann`, and records the requests that it receives."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.authorization: list[str | None] = []
        self.fails = False
        self.claims: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.audience = AUDIENCE
        self.nonce: str | None = None
        """The nonce of identity tokens; None for the one that was requested."""
        self.refuses = ""
        """The error with which users are redirected back; empty to send a code."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked.append(self.path)
                parts = urlsplit(self.path)
                if parts.path == "/authorize":
                    self.send_response(302)
                    self.send_header(
                        "Location", provider.authorize({k: v[0] for k, v in parse_qs(parts.query).items()})
                    )
                    self.end_headers()
                    return
                self.respond(500 if provider.fails else 200, provider.document(parts.path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                provider.forms.append(form)
                provider.authorization.append(self.headers.get("Authorization"))
                self.respond(*provider.exchange(form))

            def respond(self, status: int, document: Any) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(document).encode())

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def document(self, path: str) -> Any:
        if path.endswith("openid-configuration"):
            return {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
            }
        public = jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": "k1", "use": "sig", "alg": "ES256"}]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Return the address to which the browser is redirected, with a code or an error."""
        if self.refuses:
            return f"{asked['redirect_uri']}?{urlencode({'error': self.refuses, 'state': asked['state']})}"
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def exchange(self, form: dict[str, str]) -> tuple[int, Any]:
        """Return tokens for a code, which works once, and only with the matching verifier and redirect address."""
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        common = {"iss": self.url, "sub": "ann", "exp": int(time.time()) + 3_600, **self.claims}
        identity = {**common, "aud": CLIENT, "nonce": self.nonce or asked["nonce"]}
        access = {**common, "aud": self.audience}
        return 200, {"id_token": self.signed(identity), "access_token": self.signed(access), "token_type": "Bearer"}

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, KEY, "ES256", {"kid": "k1"})

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
