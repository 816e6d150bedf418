"""Recipes: reusable parts of a model, each with a guarantee, a cost and a page in the documentation."""
