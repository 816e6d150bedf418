"""Collectible models: what they are stored as, the files that they come in, and how they are loaded and retired."""
