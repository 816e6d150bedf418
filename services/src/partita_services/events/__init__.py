"""Event requests: first come, first served, and lottery."""
