"""Fuzzing: every parser of untrusted bytes is tested with mutated and random input."""
