"""Fuzzing: everything that reads bytes from outside is given bytes that nobody would send on purpose."""
