"""SQS and compatible servers: FIFO queues behind the same interface as the embedded queue."""

from partita.queue.sqs._queue import SqsQueue

__all__ = ["SqsQueue"]
