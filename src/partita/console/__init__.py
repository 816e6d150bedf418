"""The console: what the services declare, what they consume, and a way to try the patterns that read."""

from partita.console._api import CONSOLE, console_api, describe_services

__all__ = ["CONSOLE", "console_api", "describe_services"]
