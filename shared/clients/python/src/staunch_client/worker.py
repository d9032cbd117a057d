"""A worker: takes tasks, works, publishes results, and acknowledges what is stored."""

import asyncio
import concurrent.futures
import inspect
import json
import logging
import math
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any, Generic, TypeVar

import nats.errors
import nats.js.errors
import nats.micro
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.micro.service import Service

from ._report import OBJECTS_HINT, PAYLOADS_STORE, RESULT_BYTES_MAX, Report, stored
from ._wire import PAYLOAD_BYTES_MAX, PROGRESS_BYTES_MAX, STREAM, VERSION, body_bytes_max, stand_ins, token
from .client import Client, RequestError

T = TypeVar("T")
log = logging.getLogger("staunch")

# How long one pull waits for a task. A worker that stops waits for the end of its last one.
_PULL_SECONDS = 2.0
# How often the limits of the consumer are read again: an operator may change them.
_LIMITS_SECONDS = 30.0
_ACK_WAIT_MIN = 0.5
# The error of an account that may use a consumer of another one, and not ask for it.
_NO_LIMITS = 10039
_RETRY_SECONDS_MAX = 5.0
_ANSWER_SECONDS = 5.0
# How long a result waits for the progress that was said before it.
_PROGRESS_SECONDS = 1.0
_DETAIL_CHARS_MAX = 4000


class TaskFailure(Exception):
    """A failure as the handler means it; any other exception is a failure that is tried again."""

    def __init__(
        self,
        title: str,
        *,
        type: str | None = None,
        detail: str | None = None,
        status: int | None = None,
        retryable: bool = False,
        retry_after: int | None = None,
    ):
        super().__init__(title)
        self.error = {"type": type, "title": title, "detail": detail, "status": status}
        self.retryable, self.retry_after = retryable, retry_after


class Cancelled(threading.Event):
    """Whether nobody wants the result of a task any more: as a condition, or to be waited for."""

    def __bool__(self) -> bool:
        return self.is_set()


def _nowhere(value: Any) -> None:
    """Where the progress of a task goes that no worker has made."""


@dataclass(frozen=True)
class Task(Generic[T]):
    """A task, as its handler gets it."""

    id: str
    type: str
    version: int
    input: T
    attempt: int
    # After this time the result is not used.
    deadline: datetime | None
    # The same for every delivery of this attempt: the idempotency key of what the handler calls.
    key: str
    instance_id: str
    definition_id: str
    activity_id: str
    traceparent: str | None
    # The name of the definition, and the correlation id of the instance.
    workflow_name: str | None = None
    correlation_id: str | None = None
    # True as soon as nobody wants the result any more; `cancelled.wait(seconds)` waits for it. A handler that is a
    # coroutine is cancelled, too.
    cancelled: Cancelled = field(default_factory=Cancelled)
    # `progress(value)` says how far the work is, as JSON of at most 64 KiB, to those who listen at this moment. What
    # the broker does not get is lost, and logged; a value that is no JSON or is larger is refused with a TaskFailure.
    progress: Callable[[Any], None] = field(default=_nowhere, repr=False, compare=False)


class _Progress:
    """Publishes how far a task is, in order, for a coroutine or a function in a thread."""

    def __init__(self, nc: Nats, subject: str, task: Task[Any]):
        self._nc, self._subject, self._task = nc, subject, task
        self._loop, self._turn = asyncio.get_running_loop(), asyncio.Lock()
        self._last: concurrent.futures.Future[None] | None = None
        self._is_over = False

    def __call__(self, value: Any) -> None:
        body = _progress(self._task, value)
        if not self._is_over and not self._task.cancelled and not self._loop.is_closed():
            self._last = asyncio.run_coroutine_threadsafe(self._send(body), self._loop)

    async def end(self) -> None:
        """Sends no more, and waits for what was said, so that it is heard before the result."""
        self._is_over = True
        if self._last is not None:
            await asyncio.wait({asyncio.wrap_future(self._last)}, timeout=_PROGRESS_SECONDS)

    async def _send(self, body: bytes) -> None:
        task = self._task
        headers = {"Staunch-Task": task.id, "Staunch-Instance": task.instance_id, "Staunch-Attempt": str(task.attempt)}
        headers |= {"traceparent": task.traceparent} if task.traceparent else {}
        try:
            async with self._turn:
                await self._nc.publish(self._subject, body, headers=headers)
        except Exception as error:  # noqa: BLE001 - the work goes on without
            log.warning("the progress of task %s is lost: %s", task.id, str(error) or type(error).__name__)


@dataclass
class _Handler:
    type: str
    version: int
    work: Callable[[Task[Any]], Any]
    concurrency: int
    decode: Callable[[Any], Any] | None
    ack_wait: float = 30.0
    # The tasks in hand, by id, each with what ends it before its handler does.
    ends: dict[str, asyncio.Future[str]] = field(default_factory=dict)
    jobs: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def name(self) -> str:
        return f"{token(self.type)}.{self.version}"


class Worker:
    """Handlers of tasks, over a connection to NATS."""

    def __init__(self, nc: Nats, *, drain_seconds: float = 30.0, ack_wait: float = 30.0):
        """`ack_wait` is the consumer's, and counts only for a user who may not ask for it."""
        self._nc, self._drain, self._ack_wait = nc, drain_seconds, ack_wait
        self._handlers: list[_Handler] = []
        self._stopping = asyncio.Event()

    def task(
        self,
        type: str,
        version: int = 1,
        *,
        concurrency: int = 8,
        decode: Callable[[Any], T] | None = None,
    ) -> Callable[[Callable[[Task[T]], Any]], Callable[[Task[T]], Any]]:
        """Offers a handler, a coroutine or a function that runs in a thread, for a type of tasks.

        `decode` makes its input from JSON; what it raises is a failure that is not tried again.
        """

        def offer(work: Callable[[Task[T]], Any]) -> Callable[[Task[T]], Any]:
            self._handlers.append(_Handler(type, version, work, concurrency, decode))
            return work

        return offer

    def stop(self) -> None:
        """Takes no more tasks; `run` ends when those in hand are done, or their time is over."""
        self._stopping.set()

    async def run(self, *, signals: bool = True) -> None:
        """Works until `stop`, or SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT) if signals else ():
            asyncio.get_running_loop().add_signal_handler(number, self.stop)
        service = await self._announce()
        try:
            await asyncio.gather(*(self._serve(handler) for handler in self._handlers))
        finally:
            await service.stop()
        await self._nc.flush()

    async def _announce(self) -> Service:
        """Says who works at what to those who ask: the worker is a service of NATS without endpoints."""
        tasks = [
            {"type": handler.type, "version": handler.version, "concurrency": handler.concurrency}
            for handler in self._handlers
        ]
        metadata = {"staunch-tasks": json.dumps(tasks), "host": socket.gethostname()}
        return await nats.micro.add_service(
            self._nc, name="staunch-worker", version=VERSION, metadata=metadata
        )

    async def _serve(self, handler: _Handler) -> None:
        async def unwanted(notice: Msg) -> None:
            self._end(handler, notice.subject.rsplit(".", 1)[-1], "cancelled")

        notices = await self._nc.subscribe(f"staunch.task-cancel.{handler.name}.*", cb=unwanted)
        pulling = asyncio.create_task(self._pull(handler))
        await self._stopping.wait()
        limit = time.monotonic() + self._drain
        await pulling
        if handler.jobs:
            log.info("%s: %d tasks in hand are finished first", handler.name, len(handler.jobs))
            await asyncio.wait(handler.jobs, timeout=max(0.0, limit - time.monotonic()))
        for task_id in list(handler.ends):
            self._end(handler, task_id, "stopping")
        if handler.jobs:
            await asyncio.wait(handler.jobs, timeout=1.0)
        await notices.unsubscribe()

    def _end(self, handler: _Handler, task_id: str, why: str) -> None:
        end = handler.ends.get(task_id)
        if end is not None and not end.done():
            end.set_result(why)

    async def _pull(self, handler: _Handler) -> None:
        durable = f"task-{token(handler.type)}-{handler.version}"
        source, read, complaint = None, 0.0, ""
        stop = asyncio.create_task(self._stopping.wait())
        while not stop.done():
            if len(handler.jobs) >= handler.concurrency:
                await asyncio.wait({stop, *handler.jobs}, return_when=asyncio.FIRST_COMPLETED)
                continue
            begun = time.monotonic()
            try:
                if source is None or begun - read > _LIMITS_SECONDS:
                    handler.ack_wait, read = await self._limit(durable), begun
                if source is None:
                    source = await self._nc.jetstream().pull_subscribe_bind(durable, STREAM)
                    log.info("%s: takes tasks from %s", handler.name, durable)
                [message] = await source.fetch(1, timeout=_PULL_SECONDS)
                complaint = ""
            except (nats.errors.TimeoutError, asyncio.TimeoutError):
                if time.monotonic() - begun < _PULL_SECONDS / 2:
                    await asyncio.wait({stop}, timeout=1.0)
                continue
            except Exception as error:  # noqa: BLE001 - the broker, or the consumer, is not there yet
                if str(error) != complaint:
                    complaint = str(error)
                    log.warning("%s: no tasks for now, tries again: %s", durable, error)
                read = 0.0
                await asyncio.wait({stop}, timeout=1.0)
                continue
            if stop.done():
                await message.nak()
                break
            job = asyncio.create_task(self._handle(handler, message))
            handler.jobs.add(job)
            job.add_done_callback(handler.jobs.discard)
        if source is not None:
            await source.unsubscribe()

    async def _limit(self, durable: str) -> float:
        try:
            info = await self._nc.jetstream().consumer_info(STREAM, durable)
            return info.config.ack_wait or self._ack_wait
        except nats.js.errors.APIError as error:
            if error.err_code != _NO_LIMITS:
                raise
            return self._ack_wait

    async def _handle(self, handler: _Handler, message: Msg) -> None:
        try:
            task = _read(handler, message)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            return await self._poison(handler, message, f"{type(error).__name__}: {error}")
        end: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        handler.ends[token(task.id)] = end
        beat = asyncio.create_task(self._beat(handler, message))
        work = asyncio.create_task(self._work(handler, task))
        left = task.deadline and (task.deadline - datetime.now(timezone.utc)).total_seconds()
        try:
            await asyncio.wait(
                {work, end}, timeout=left and max(0.0, left), return_when=asyncio.FIRST_COMPLETED
            )
            if work.done():
                work.result()
                await message.ack()
                return
            why = end.result() if end.done() else "deadline"
            log.warning("%s: task %s is given up: %s", handler.name, task.id, why)
            task.cancelled.set()
            await (message.nak() if why == "stopping" else message.ack())
            beat.cancel()
            if inspect.iscoroutinefunction(handler.work):
                work.cancel()
            # It keeps its place until it has ended.
            await asyncio.wait({work})
        except Exception:
            log.exception("%s: task %s is left to the next delivery", handler.name, task.id)
        finally:
            beat.cancel()
            if handler.ends.get(token(task.id)) is end:
                del handler.ends[token(task.id)]

    async def _beat(self, handler: _Handler, message: Msg) -> None:
        while True:
            await asyncio.sleep(max(handler.ack_wait, _ACK_WAIT_MIN) / 3)
            try:
                await message.in_progress()
            except Exception as error:  # noqa: BLE001 - the next one may succeed
                log.warning("%s: no sign of life was sent: %s", handler.name, error)

    async def _work(self, handler: _Handler, task: Task[Any]) -> None:
        said = _Progress(self._nc, f"staunch.task-progress.{handler.name}.{token(task.id)}", task)
        try:
            task = replace(await self._whole(task), progress=said)
            if handler.decode is not None:
                task = _decoded(task, handler.decode)
            if inspect.iscoroutinefunction(handler.work):
                output = await handler.work(task)
            else:
                output = await _in_thread(handler.work, task)
            if task.cancelled:
                return
            report = await self._report(task, output)
        except TaskFailure as failure:
            report = Report(_failed(task.attempt, failure))
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it raises
            ending = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and ending and ending.cancelling():
                raise
            log.warning("%s: task %s fails", handler.name, task.id, exc_info=error)
            failure = TaskFailure(type(error).__name__, detail=str(error), retryable=True)
            report = Report(_failed(task.attempt, failure))
        await said.end()
        await self._send(handler, task.id, task.attempt, task.traceparent, report)

    async def _report(self, task: Task[Any], output: Any) -> Report:
        """The report about a result, which is an object where no message carries it."""
        body = _result(task.attempt, output=output)
        if len(body) <= body_bytes_max(self._nc.max_payload):
            return Report(body)
        value = json.dumps(output, allow_nan=False).encode()
        if len(value) > RESULT_BYTES_MAX:
            raise TaskFailure(
                f"the result has {len(value)} bytes, more than the {RESULT_BYTES_MAX} that a result may have",
                type="ResultTooLarge",
                detail="keep large data elsewhere and return a reference to it",
            )
        try:
            name = await stored(self._nc, f"tasks/{token(task.id)}/{task.attempt}", value)
        except Exception as error:
            reason = str(error) or type(error).__name__
            raise TaskFailure(
                "the result is larger than a message, and its object is not stored",
                type="ResultNotStored",
                detail=f"the object store {PAYLOADS_STORE}: {reason}; {OBJECTS_HINT}",
                retryable=True,
            ) from error
        return Report(_result(task.attempt), name)

    async def _whole(self, task: Task[Any]) -> Task[Any]:
        """The task with the large values of its input: a message could not carry them."""
        inputs, left = [task.input], PAYLOAD_BYTES_MAX
        client = Client(self._nc, timeout=_ANSWER_SECONDS)
        for place, key, hash in list(stand_ins(inputs)):
            try:
                data = await client.payload(hash, bytes_max=left)
                place[key], left = json.loads(data), left - len(data)
            except Exception as error:
                # What is gone or too large does not come with another attempt.
                is_final = isinstance(error, RequestError) and 400 <= error.status < 500
                is_final = is_final or isinstance(error, (ValueError, RecursionError))
                raise TaskFailure(
                    "a large value of the input cannot be read",
                    type="InputUnavailable",
                    detail=str(error) or type(error).__name__,
                    retryable=not is_final,
                ) from error
        return replace(task, input=inputs[0])

    async def _send(
        self, handler: _Handler, task_id: str, attempt: int, trace: str | None, report: Report
    ) -> None:
        """Publishes a result until JetStream says that it is stored."""
        headers = {"Nats-Msg-Id": f"{task_id}.{attempt}.result", "Staunch-Attempt": str(attempt)}
        headers |= report.headers() | ({"traceparent": trace} if trace else {})
        subject, pause = f"staunch.cmd.task.{handler.name}.{token(task_id)}", 0.1
        while True:
            try:
                await self._nc.jetstream().publish(subject, report.body, timeout=5.0, headers=headers)
                return
            except Exception as error:  # noqa: BLE001 - full, away, in election: it is tried again
                log.warning("%s: the result of task %s is not stored yet: %s", handler.name, task_id, error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _RETRY_SECONDS_MAX)

    async def _poison(self, handler: _Handler, message: Msg, reason: str) -> None:
        """Ends what is no task, so that it does not come again. If it names one, that has failed."""
        log.error("%s: a message is no task, and is removed: %s", handler.name, reason)
        headers = message.headers or {}
        task_id, attempt = headers.get("Staunch-Task"), headers.get("Staunch-Attempt", "")
        if task_id and attempt.isdigit():
            failure = TaskFailure("the worker cannot read the task", type="UnreadableTask", detail=reason)
            report = Report(_failed(int(attempt), failure))
            await self._send(handler, task_id, int(attempt), None, report)
        await self._nc.publish(message.reply, b"+TERM " + " ".join(reason.split())[:200].encode())


def _read(handler: _Handler, message: Msg) -> Task[Any]:
    body = json.loads(message.data)
    if (body["taskType"], body["taskVersion"]) != (handler.type, handler.version):
        raise ValueError(f"the task is one of {body['taskType']}, version {body['taskVersion']}")
    if not isinstance(body["taskId"], str) or type(body["attempt"]) is not int:
        raise TypeError("taskId is no text, or attempt no number")
    deadline, headers = body.get("deadline"), message.headers or {}
    return Task(
        id=body["taskId"],
        type=handler.type,
        version=handler.version,
        input=body["input"],
        attempt=body["attempt"],
        deadline=datetime.fromisoformat(deadline.replace("Z", "+00:00")) if deadline else None,
        key=headers.get("Nats-Msg-Id") or f"{body['taskId']}.{body['attempt']}",
        instance_id=body["workflowInstanceId"],
        definition_id=body["workflowDefinitionId"],
        activity_id=body["activityId"],
        traceparent=headers.get("traceparent"),
        workflow_name=body.get("workflowName"),
        correlation_id=body.get("correlationId"),
    )


def _decoded(task: Task[Any], decode: Callable[[Any], Any]) -> Task[Any]:
    try:
        return replace(task, input=decode(task.input))
    except Exception as error:
        raise TaskFailure("the input is not what the worker takes", type="InvalidInput", detail=str(error)) from error


def _result(attempt: int, **members: Any) -> bytes:
    try:
        text = json.dumps({"attempt": attempt} | members, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TaskFailure("the result is not JSON", type="ResultUnfit", detail=str(error)) from error
    return text.encode()


def _progress(task: Task[Any], value: Any) -> bytes:
    """The body of the message about the progress of a task."""
    try:
        said = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise TaskFailure("the progress is not JSON", type="ProgressUnfit", detail=str(error)) from error
    if len(said) > PROGRESS_BYTES_MAX:
        raise TaskFailure(
            f"the progress has {len(said)} bytes, more than the {PROGRESS_BYTES_MAX} that it may have",
            type="ProgressTooLarge",
            detail="say how far the work is, and return what is large as the result",
        )
    about = {"taskId": task.id, "taskType": task.type, "taskVersion": task.version}
    about |= {"workflowInstanceId": task.instance_id, "attempt": task.attempt}
    return json.dumps(about).encode()[:-1] + b',"progress":' + said + b"}"


def _failed(attempt: int, failure: TaskFailure) -> bytes:
    error = {name: value for name, value in failure.error.items() if value is not None}
    for name in ("type", "title", "detail"):
        if name in error:
            # Half a surrogate pair, as of a file name that is no UTF-8, has no form in JSON.
            text = str(error[name])[:_DETAIL_CHARS_MAX]
            error[name] = text.encode("utf-8", "replace").decode()
    after = {} if failure.retry_after is None else {"retryAfter": math.ceil(failure.retry_after)}
    return _result(attempt, status="failed", error=error, retryable=failure.retryable, **after)


def _in_thread(work: Callable[[Task[Any]], Any], task: Task[Any]) -> Awaitable[Any]:
    """Runs a function in a thread that does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()

    def tell(is_good: bool, value: Any) -> None:
        if not ended.done():
            ended.set_result(value) if is_good else ended.set_exception(value)

    def run() -> None:
        try:
            args = (True, work(task))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
            args = (False, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, *args)

    threading.Thread(target=run, name=f"task-{task.id}", daemon=True).start()
    return ended
