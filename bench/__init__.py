"""Benchmarks: `python -m bench` prints ratios, and `python -m bench.soak` stresses one file for a while."""
