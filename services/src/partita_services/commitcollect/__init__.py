"""CommitCollect: Strava workouts earn the parts of collectible models."""
