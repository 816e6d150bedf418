"""Milestones: how far they have come, the parts that they have earned, and the models that the parts belong to."""
