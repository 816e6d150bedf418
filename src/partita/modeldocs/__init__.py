"""Documentation of a service, generated from its declarations."""

from partita.modeldocs._page import render_page

__all__ = ["render_page"]
