"""Live figures on events and requests, kept up from the change stream."""
