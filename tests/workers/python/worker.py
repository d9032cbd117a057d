"""The handlers of the conformance kit, in Python; with the argument `client`, the client's calls;
with `watch` and an instance, its events."""

import asyncio
import json
import logging
import os
import sys
import time

import nats
from staunch_client import Client, Refused, RequestError, Task, TaskFailure, Worker

PREFIX, JOURNAL = os.environ["WORKER_PREFIX"], os.environ["WORKER_JOURNAL"]


def note(what: str, task: Task) -> None:
    line = f"{what} {task.id} {task.attempt} {os.getpid()}\n"
    with open(JOURNAL, "a", encoding="utf-8") as journal:
        journal.write(line)


def login() -> dict:
    user = os.environ.get("WORKER_USER")
    return {"user": user, "password": "secret", "inbox_prefix": f"_INBOX.{user}"} if user else {}


async def work() -> None:
    logging.basicConfig(level=logging.INFO)
    nc = await nats.connect(os.environ["NATS_URL"], max_reconnect_attempts=-1, **login())
    worker = Worker(nc, drain_seconds=float(os.environ.get("WORKER_DRAIN", "30")))

    @worker.task(f"{PREFIX} echo.ü")
    async def echo(task: Task) -> dict:
        note("begin", task)
        task.progress({"step": "echo"})
        late = task.deadline.timestamp() if task.deadline else None
        names = {"workflow": task.workflow_name, "correlation": task.correlation_id}
        said = {"input": task.input, "attempt": task.attempt, "key": task.key, "trace": task.traceparent, "deadline": late}
        return said | names

    @worker.task(f"{PREFIX} slow", concurrency=3)
    async def slow(task: Task) -> dict:
        note("begin", task)
        try:
            await asyncio.sleep(task.input["ms"] / 1000)
        except asyncio.CancelledError:
            note("cancelled", task)
            raise
        note("end", task)
        return {"pid": os.getpid()}

    @worker.task(f"{PREFIX} blocking")
    def blocking(task: Task) -> dict:
        note("begin", task)
        until = time.monotonic() + task.input["ms"] / 1000
        while time.monotonic() < until:
            time.sleep(0.05)
            if task.cancelled:
                note("cancelled", task)
                return {}
        note("end", task)
        return {"pid": os.getpid()}

    @worker.task(f"{PREFIX} second", version=2)
    async def second(task: Task) -> int:
        return task.version

    @worker.task(f"{PREFIX} fail-once")
    async def fail_once(task: Task) -> dict:
        note("begin", task)
        if task.attempt == 1:
            # Half a surrogate pair has no form in JSON, and is a failure all the same.
            raise OSError("the parcel service is away: \ud800")
        return {"attempt": task.attempt}

    @worker.task(f"{PREFIX} fail-for-good")
    async def fail_for_good(task: Task) -> None:
        note("begin", task)
        raise TaskFailure("declined", type="CardDeclined", detail="no money", status=402)

    @worker.task(f"{PREFIX} fail-later")
    async def fail_later(task: Task) -> dict:
        note("begin", task)
        if task.attempt == 1:
            raise TaskFailure("busy", retryable=True, retry_after=2)
        return {"attempt": task.attempt}

    @worker.task(f"{PREFIX} typed", decode=lambda value: int(value["number"]))
    async def typed(task: Task[int]) -> int:
        return task.input + 1

    @worker.task(f"{PREFIX} big")
    async def big(task: Task) -> str:
        note("begin", task)
        return "x" * task.input["bytes"]

    @worker.task(f"{PREFIX} deep")
    async def deep(task: Task) -> list:
        note("begin", task)
        value: list = []
        for _ in range(task.input["levels"]):
            value = [value]
        return value

    @worker.task(f"{PREFIX} length", decode=lambda value: str(value["text"]))
    async def length(task: Task[str]) -> int:
        return len(task.input)

    kept: list[Task] = []

    @worker.task(f"{PREFIX} progress")
    async def progress(task: Task) -> str:
        for ended in kept:
            ended.progress("too late")
        kept.append(task)
        for number, step in enumerate(task.input["steps"]):
            # From the loop and from a thread, in turn.
            await asyncio.to_thread(task.progress, step) if number % 2 else task.progress(step)
        try:
            task.progress("x" * 70_000)
        except TaskFailure as refused:
            return str(refused)
        return "not refused"

    @worker.task(f"{PREFIX} counting")
    async def counting(task: Task) -> int:
        for number in range(task.input["count"]):
            task.progress({"number": number})
            note("said", task)
            await asyncio.sleep(0.05)
        return task.input["count"]

    @worker.task(f"{PREFIX} crash-before-result")
    async def crash_before_result(task: Task) -> dict:
        note("begin", task)
        with open(JOURNAL, encoding="utf-8") as journal:
            if sum(f"begin {task.id}" in line for line in journal) == 1:
                os._exit(7)
        return {"survived": True}

    await worker.run()
    await nc.close()


async def call() -> None:
    nc = await nats.connect(os.environ["NATS_URL"])
    client, said = Client(nc), {}
    definition = f"{PREFIX}-waits"
    instance = f"{PREFIX}-instance"
    start = await client.start(definition, instance_id=instance, settled=True, correlation_id="c1")
    said["status"] = start["subStatus"]
    try:
        await client.start(definition, instance_id=instance)
    except Refused as refused:
        said["again"] = refused.outcome["refusal"]
    said["query"] = (await client.query(instance))["subStatus"]
    events = asyncio.create_task(follow(client, instance))
    await asyncio.sleep(0.3)
    await client.signal("go.on", {"by": "Ada"}, instance_id=instance)
    said["watched"] = await events
    said["late"] = await follow(client, instance)
    said["output"] = (await client.query(instance))["output"]
    held = await client.start(definition, {}, settled=True)
    [bookmark] = held["bookmarks"]
    resumed = await client.resume(held["workflowInstanceId"], bookmark, {"Payload": 1}, settled=True)
    said["resumed"] = resumed["subStatus"]
    try:
        await client.resume(held["workflowInstanceId"], bookmark)
    except Refused as refused:
        said["refused"] = refused.outcome["refusal"]
    third = await client.start(definition, {}, settled=True)
    said["cancelled"] = (await client.cancel(third["workflowInstanceId"], "no need"))["subStatus"]
    try:
        await client.start("there is none")
    except RequestError as error:
        said["absent"] = error.status
    await nothing_is_refused(client)
    print(json.dumps(said))
    await nc.close()


async def nothing_is_refused(client: Client) -> None:
    """Whoever names nothing learns which argument it was."""
    calls = {
        "definition": client.start,
        "instance_id": client.query,
        "event": client.signal,
        "hash": client.payload,
    }
    for argument, call in calls.items():
        try:
            await call(None)
        except TypeError as error:
            assert str(error) == f"{argument} is None: give a str", error
        else:
            raise AssertionError(f"{argument} may be None")


async def follow(client: Client, instance: str) -> list[str]:
    return [event["event"] async for event in client.watch(instance)]


async def watch(instance: str) -> None:
    nc = await nats.connect(os.environ["NATS_URL"])
    print(json.dumps(await follow(Client(nc), instance)))
    await nc.close()


match sys.argv[1:]:
    case ["client"]:
        asyncio.run(call())
    case ["watch", name]:
        asyncio.run(watch(name))
    case _:
        asyncio.run(work())
