"""Milestones: their progress, awarding parts, and notices of awards."""
