"""The waiting list: which requests wait for a seat, in which order, and how they get freed seats."""
