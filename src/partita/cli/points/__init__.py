"""The commands on points in time."""
