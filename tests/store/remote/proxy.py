"""A proxy between a client and a server that drops, truncates, delays and throttles according to a plan."""

from __future__ import annotations

import http.client
import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Literal
from urllib.parse import urlsplit

Fault = Literal["none", "drop before", "drop after", "truncate", "delay", "throttle"]
Plan = Callable[[], Fault]

THROTTLED = b'{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}'


class FaultProxy(socketserver.ThreadingTCPServer):
    """Forwards requests to `upstream`, each with the fault that `plan` returns for it."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, upstream: str, plan: Plan) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream).netloc
        self.plan = plan
        self.met: Counter[Fault] = Counter()
        self.connections = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_fault(self) -> Fault:
        """Return the fault for a request that has arrived."""
        with self._lock:
            fault = self.plan()
            self.met[fault] += 1
            return fault

    def process_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: tuple[str, int]
    ) -> None:
        self.connections += 1
        super().process_request(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FaultProxy

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = self.server.next_fault()
        if fault == "throttle":
            self._respond(400, THROTTLED)
        elif fault == "drop before":
            self.close_connection = True
        else:
            status, content = self._forward(body)
            self._play(fault, status, content)

    def _play(self, fault: Fault, status: int, content: bytes) -> None:
        if fault == "none":
            self._respond(status, content)
            return
        self.close_connection = True
        if fault == "truncate":
            self._respond(status, content, sent=len(content) // 2)
        elif fault == "delay":
            self.connection.recv(1)  # until the client has given up

    def _forward(self, body: bytes) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection(self.server.upstream)) as upstream:
            upstream.request("POST", self.path, body, dict(self.headers))
            response = upstream.getresponse()
            return response.status, response.read()

    def _respond(self, status: int, body: bytes, sent: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:sent])

    def log_message(self, *args: object) -> None:
        """Log nothing."""


@contextmanager
def fault_proxy(upstream: str, plan: Plan = lambda: "none") -> Iterator[FaultProxy]:
    """Run a proxy until the end of the block."""
    with FaultProxy(upstream, plan) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
