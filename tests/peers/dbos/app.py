"""The work of the comparison, as DBOS does it, behind a small HTTP server.

Each request runs one workflow and answers with its result: every step's result is committed in
PostgreSQL before the next step, and the workflow's before the answer.
"""

import os
import uuid

import uvicorn
from dbos import DBOS, SetWorkflowID
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

POOL = 32

DBOS(
    config={
        "name": "peer",
        "system_database_url": os.environ["DATABASE_URL"],
        "sys_db_pool_size": POOL,
        "log_level": "ERROR",
        "console_log_level": "ERROR",
    }
)


@DBOS.step()
async def step(number: int) -> dict:
    return {"number": number, "at": "done"}


@DBOS.workflow()
async def one() -> str:
    await step(1)
    return "done"


@DBOS.workflow()
async def three() -> str:
    for number in (1, 2, 3):
        await step(number)
    return "done"


@DBOS.workflow()
async def noop() -> str:
    return "done"


@DBOS.workflow()
async def sleep(seconds: float) -> str:
    await DBOS.sleep_async(seconds)
    return "awake"


@DBOS.workflow()
async def waiting() -> str:
    return await DBOS.recv_async("go", timeout_seconds=60)


def runs(workflow):
    async def endpoint(_request):
        with SetWorkflowID(str(uuid.uuid4())):
            return PlainTextResponse(await workflow())

    return endpoint


async def sleeps(request):
    with SetWorkflowID(str(uuid.uuid4())):
        return PlainTextResponse(await sleep(int(request.path_params["millis"]) / 1000))


async def waits(request):
    with SetWorkflowID(request.path_params["id"]):
        return PlainTextResponse(await waiting())


async def goes(request):
    await DBOS.send_async(request.path_params["id"], "go", "go")
    return PlainTextResponse("sent")


async def ready(_request):
    return PlainTextResponse("ready")


app = Starlette(
    routes=[
        Route("/ready", ready),
        Route("/noop", runs(noop), methods=["POST"]),
        Route("/one", runs(one), methods=["POST"]),
        Route("/three", runs(three), methods=["POST"]),
        Route("/sleep/{millis}", sleeps, methods=["POST"]),
        Route("/waiting/{id}", waits, methods=["POST"]),
        Route("/waiting/{id}/go", goes, methods=["POST"]),
    ]
)

if __name__ == "__main__":
    DBOS.launch()
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="error")
