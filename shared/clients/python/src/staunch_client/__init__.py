"""Workers and clients of Staunch, durable workflows on NATS."""

from .client import Client, Refused, RequestError
from .worker import Task, TaskFailure, Worker

__all__ = ["Client", "Refused", "RequestError", "Task", "TaskFailure", "Worker"]
