"""All services under load for a long time, sampled and judged: `python -m tests.soak`."""
