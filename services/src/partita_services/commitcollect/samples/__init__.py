"""Sample data, and operations on it."""
