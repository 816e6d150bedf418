"""The console: the declarations of the services, their consumption, and a form to try the patterns that read."""

from partita.console._api import CONSOLE, console_api, describe_services

__all__ = ["CONSOLE", "console_api", "describe_services"]
