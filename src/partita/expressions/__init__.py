"""Conditions, updates, projections and key conditions: one tree, rendered, parsed and evaluated."""
