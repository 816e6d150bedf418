"""The Python examples of a page of the documentation, as a program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from tests.wire.support import serving

from partita import REGISTRY, EmbeddedStore
from partita.buckets import FolderBuckets


def code_blocks(page: Path) -> str:
    """Return all Python examples of a page, on the same lines as in the page."""
    lines: list[str] = []
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def run_examples(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all Python examples of a page as one program, in this folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(REGISTRY, "_tables", {})
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    exec(compile(code_blocks(page), str(page), "exec", dont_inherit=True), vars(module))  # noqa: S102


def use_local_aws(folder: Path, monkeypatch: pytest.MonkeyPatch, **urls: str) -> None:
    """Set AWS's environment variables so that every tool finds servers on this machine: `dynamodb=`, `s3=`."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(folder / "none"))
    for service, url in urls.items():
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service.upper()}", url)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "eu-west-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")


@contextmanager
def local_dynamodb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve as `partita dynamodb --buckets buckets` does in this folder, with the buckets of the pages."""
    for bucket in ("input", "reports", "lake"):
        (folder / "buckets" / bucket).mkdir(parents=True)
    with (
        EmbeddedStore(":memory:") as store,
        serving(store, buckets=FolderBuckets(folder / "buckets")) as (host, port),
    ):
        use_local_aws(folder, monkeypatch, dynamodb=f"http://{host}:{port}")
        yield
