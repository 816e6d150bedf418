"""The waiting list: who waits for a seat, in order, and how freed seats get there."""
