"""One app for all services: their APIs and pages, the console, health and metrics."""

from partita.app._app import build_app, guarded

__all__ = ["build_app", "guarded"]
