"""Measurements: `python -m bench` prints ratios, `python -m bench.soak` works one file hard for a while."""
