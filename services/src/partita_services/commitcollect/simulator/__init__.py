"""A simulator of Strava, which speaks the same endpoints: CommitCollect runs and is tested with no outside network."""
