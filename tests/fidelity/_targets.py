"""The endpoints that can be probed: a URL, or a server that is started for the run."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

import botocore.session
from tests.fidelity._client import Api
from tests.referee import ministack, moto
from tests.wire.support import serving

from partita import EmbeddedStore

LOCAL_TARGETS: Final = ("ours", "ministack", "moto")
_AWS: Final = ".amazonaws.com"
_PATIENCE: Final = 20.0


@contextmanager
def opened(target: str) -> Iterator[Api]:
    """Yield the endpoint, and delete its tables at the end."""
    if target == "ours":
        with EmbeddedStore(":memory:") as store, served(store) as api:
            yield api
    elif target in LOCAL_TARGETS:
        start = ministack if target == "ministack" else moto
        with TemporaryDirectory() as folder, start(Path(folder)) as url, tidied(Api(url)) as api:
            yield api
    else:
        with tidied(Api(target) if not is_aws(target) else _aws(target)) as api:
            yield api


def is_aws(target: str) -> bool:
    """Whether the target is AWS itself, which costs money."""
    return (urlsplit(target).hostname or "").endswith(_AWS)


@contextmanager
def served(store: EmbeddedStore) -> Iterator[Api]:
    """Yield our own server on a store."""
    with serving(store) as (host, port), tidied(Api(f"http://{host}:{port}")) as api:
        yield api


@contextmanager
def tidied(api: Api) -> Iterator[Api]:
    """Yield the endpoint; at the end delete the created tables and close the connections, even after an error."""
    with closing(api):
        try:
            yield api
        finally:
            api.delete_tables()


def _aws(url: str) -> Api:
    credentials = botocore.session.get_session().get_credentials()
    if credentials is None:
        raise SystemExit("There are no AWS credentials: set them as for the AWS CLI.")
    region = (urlsplit(url).hostname or "").split(".")[-3]
    prefix = f"partita-fidelity-{secrets.token_hex(4)}-"
    return Api(url, credentials=credentials, region=region, prefix=prefix, patience=_PATIENCE)
