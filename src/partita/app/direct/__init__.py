"""Routes called directly: what FastAPI derives for every request is derived once.

FastAPI walks a graph of dependencies for each request, tries one route after the other, and keeps two exit stacks that
most routes never use. What it declares stays: signatures, validation, descriptions. `DirectRoutes` reads the routes of
an app once, and calls those that it understands with the same arguments, in the same order, with the same errors.
What it does not understand is left to FastAPI.
"""

from partita.app.direct._routes import DirectRoutes

__all__ = ["DirectRoutes"]
