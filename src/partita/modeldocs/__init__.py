"""Documentation of a service, written from what it declares."""

from partita.modeldocs._page import render_page

__all__ = ["render_page"]
