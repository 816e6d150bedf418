"""Partita: an access-pattern-first DynamoDB data layer for Python."""
