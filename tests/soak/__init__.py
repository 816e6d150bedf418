"""A soak: all services under load for a long time, with samples and a verdict: `python -m tests.soak`."""
