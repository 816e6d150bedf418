"""Sample data, and example operations on it."""
