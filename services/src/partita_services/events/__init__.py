"""Event requests: first come, first served, and lottery."""

import partita_services.events.names.model
import partita_services.events.waitlist.model  # noqa: F401 - the table is complete, whichever module is imported first
