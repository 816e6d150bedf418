"""What is done in the background: the webhook queues events, and a worker does the jobs of the queue."""
