"""Collectible models: their stored items, their files and pictures, loading and retiring."""
