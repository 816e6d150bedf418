"""Signing in: a browser goes to Strava, comes back, and has a session."""
