"""The pages that every server has: the front page, the API descriptions, and the page for unknown addresses."""

from partita.app.start._api_page import ApiSource
from partita.app.start._front_page import ServedService
from partita.app.start._missing import missing_page, wants_page
from partita.app.start._routes import PAGES, add_start_pages

__all__ = ["PAGES", "ApiSource", "ServedService", "add_start_pages", "missing_page", "wants_page"]
