"""One app for all services: their APIs and pages, the console, health and metrics. Needs the extra `serve`."""

from partita.app._app import build_app, guarded
from partita.app._metrics import RequestMetrics
from partita.app._prepared import PreparedRoutes, describe_apis, prepare_routes

__all__ = ["PreparedRoutes", "RequestMetrics", "build_app", "describe_apis", "guarded", "prepare_routes"]
