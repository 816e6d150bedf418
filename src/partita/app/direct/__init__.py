"""Routes that are called directly: work that FastAPI does for every request is done once.

FastAPI walks a graph of dependencies for each request, tries one route after the other, and keeps two exit stacks that
most routes never use. `DirectRoutes` keeps FastAPI's declarations: signatures, validation and descriptions. It reads
the routes of an app once, and calls the ones that it supports with the same arguments, in the same order, with the same
errors. All other routes are left to FastAPI.
"""

from partita.app.direct._routes import DirectRoutes

__all__ = ["DirectRoutes"]
