"""SQS, and every server that speaks its protocol: FIFO queues behind the same interface as the embedded one."""

from partita.queue.sqs._queue import SqsQueue

__all__ = ["SqsQueue"]
