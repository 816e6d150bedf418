"""One app for all services: their APIs and pages, the console, health and metrics."""

from partita.app._app import build_app, describe_apis, guarded
from partita.app._metrics import RequestMetrics

__all__ = ["RequestMetrics", "build_app", "describe_apis", "guarded"]
