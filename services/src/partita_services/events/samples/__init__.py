"""Sample data, and one operation on it for each access pattern."""
