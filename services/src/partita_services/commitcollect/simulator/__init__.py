"""A simulator of Strava with the same endpoints, so CommitCollect runs and is tested without an outside network."""
