"""Starts emulators on free loopback ports: `ministack` with DynamoDB, SQS and further APIs, and `moto`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

START_SECONDS = 60.0
STOP_SECONDS = 60.0
LEAST_VERSION = (1, 5, 33)
_HOME = Path(sys.prefix) / "referee"
"""The virtual environment of ministack, which needs a different botocore than the tests."""


@contextmanager
def ministack(folder: Path, *others: str) -> Iterator[str]:
    """Run an emulator that keeps its files in `folder`, with further APIs; yield its URL, and stop it at the end.

    Raises:
        RuntimeError: it is too old to compare with, or did not start.
    """
    _check_version(ministack_version())
    port = _free_port()
    with _running(
        str(_HOME / "bin" / "python"), ["ministack"], folder, port, _environment(folder, port, others)
    ) as url:
        yield url


def ministack_version() -> str:
    """Return the version of the emulator.

    Raises:
        RuntimeError: it is not installed.
    """
    places = [str(place) for place in _HOME.glob("lib/python*/site-packages")]
    for found in distributions(name="ministack", path=places):
        return found.version
    raise RuntimeError(f"There is no ministack in {_HOME}: run make setup.")


@contextmanager
def moto(folder: Path) -> Iterator[str]:
    """Run a second emulator to compare with; yield its URL, and stop it at the end.

    Raises:
        RuntimeError: it did not start.
    """
    port = _free_port()
    with _running(
        sys.executable, ["moto.server", "-H", "127.0.0.1", "-p", str(port)], folder, port, dict(os.environ)
    ) as url:
        yield url


@contextmanager
def _running(python: str, module: list[str], folder: Path, port: int, environment: dict[str, str]) -> Iterator[str]:
    log = folder / f"{module[0]}.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [python, "-m", *module], cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait_until_it_listens(server, port, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:  # it still executes a long request, whose result nobody needs
            server.kill()
            server.wait()


def _check_version(installed: str) -> None:
    if tuple(map(int, installed.split(".")[:3])) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise RuntimeError(f"ministack {installed} differs from AWS too often to be a judge: install {least} or newer.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _environment(folder: Path, port: int, others: tuple[str, ...]) -> dict[str, str]:
    own = {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "SERVICES": ",".join(("dynamodb", "dynamodbstreams", "sqs", *others)),
        "PYTHONPATH": str(_with_packages_of_the_tests(folder)),
        "TMPDIR": str(folder),
        "S3_DATA_DIR": str(folder / "s3"),
        "STATE_DIR": str(folder / "state"),
        "DOCKER_HOST": f"unix://{folder}/no-docker.sock",
        "SFTP_ENABLED": "0",
        "LOG_LEVEL": "ERROR",
    }
    return {**os.environ, **own}


def _with_packages_of_the_tests(folder: Path) -> Path:
    """Return a folder that adds the packages of the tests after ministack's: deployed functions need Partita."""
    place = folder / "python"
    place.mkdir(exist_ok=True)
    packages = sysconfig.get_path("purelib")
    (place / "sitecustomize.py").write_text(f"import site\n\nsite.addsitedir({packages!r})\n", encoding="utf-8")
    return place


def _wait_until_it_listens(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{log.stem} did not start:\n{log.read_text()[-2000:]}")
