"""One app for all services: their APIs and pages, the console, health and metrics."""

from partita.app._app import build_app, describe_apis, guarded

__all__ = ["build_app", "describe_apis", "guarded"]
