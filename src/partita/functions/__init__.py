"""Services on AWS Lambda: the same declarations, called with events.

| handler of a function | called by |
| --- | --- |
| `partita.functions.http` | API Gateway, and function URLs |
| `partita.functions.worker` | SQS, and a schedule |
| `partita.functions.stream` | DynamoDB Streams |

Each of these handlers is created when it is first accessed, from environment variables: AWS Lambda accesses it before
the first event. Importing the package creates none of them.
"""

import os
from importlib import import_module
from typing import Any

from partita.functions._http import FunctionContext, HttpHandler
from partita.functions._settings import FunctionSettings
from partita.functions._stream import DeliveredRecords, StreamHandler
from partita.functions._worker import WorkerHandler

__all__ = ["DeliveredRecords", "FunctionContext", "FunctionSettings", "HttpHandler", "StreamHandler", "WorkerHandler"]


def __getattr__(name: str) -> Any:
    if name not in ("http", "stream", "worker"):
        raise AttributeError(f"module 'partita.functions' has no attribute {name!r}")
    handlers = import_module("partita.functions._handlers")
    made = getattr(handlers, f"{name}_handler")(FunctionSettings.from_environment(os.environ))
    globals()[name] = made
    return made
