"""cfn-lint in the test process, so that its rules, hundreds of modules, are loaded once for all templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.runner import Runner


def faults(template: Mapping[str, Any]) -> list[str]:
    """Return cfn-lint's findings about a template, in each of two regions."""
    decoded, errors = decode_str(json.dumps(template))
    return [str(match) for match in errors or _runner().validate_template(decoded)]


@cache
def _runner() -> Runner:
    return Runner(ConfigMixIn(regions=["us-east-1", "ap-southeast-2"]))
