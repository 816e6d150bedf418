"""Strava as CommitCollect sees it: requests and responses, the HTTP client, settings, tokens."""
