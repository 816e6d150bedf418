"""The interface to Strava: requests and responses, the HTTP client, settings, tokens."""
