"""Signing in: a browser is redirected to Strava and back, and gets a session."""
