"""The scenarios: the work of the processes, and the invariants at all times and at the end."""
