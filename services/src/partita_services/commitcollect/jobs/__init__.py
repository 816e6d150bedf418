"""Background jobs: the webhook queues events, and a worker runs the jobs of the queue."""
