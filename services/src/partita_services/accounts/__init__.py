"""The Accounts service: money in a versioned table, moved without losing any of it."""
