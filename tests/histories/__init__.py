"""Histories of concurrent clients, and judges of them: linearizability of items, serializability of transactions."""
