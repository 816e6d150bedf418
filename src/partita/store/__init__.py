"""The store interface and the values that pass through it."""
