"""Histories of concurrent clients, and their checkers: linearizability of items, serializability of transactions."""
