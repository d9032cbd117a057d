"""Starts, resumes, signals, asks and follows instances, over NATS alone."""

import asyncio
import hashlib
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import nats.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from ._wire import PAYLOAD_BYTES_MAX, dotted, token

# The states in which an instance is over, and the event of each.
_OVER = {"Finished": "finished", "Faulted": "faulted", "Cancelled": "cancelled"}

# Why nobody answers a query that may be answered later.
_PASSING = (
    nats.errors.NoRespondersError,
    nats.errors.TimeoutError,
    nats.errors.OutboundBufferLimitError,
)


class RequestError(Exception):
    """A request that was answered with a problem: `status` is that of HTTP."""

    def __init__(self, status: int, title: str, detail: str):
        super().__init__(f"{title}: {detail}")
        self.status, self.title, self.detail = status, title, detail


class Refused(Exception):
    """A command that changed nothing. `outcome["refusal"]` has the reason."""

    def __init__(self, outcome: dict[str, Any]):
        super().__init__(f"{outcome['refusal']}: {outcome.get('message') or 'no reason is given'}")
        self.outcome = outcome


class Client:
    """A client of Staunch over a connection to NATS."""

    def __init__(self, nc: Nats, *, timeout: float = 30.0):
        self._nc, self._timeout = nc, timeout

    async def start(
        self,
        definition: str,
        input: dict[str, Any] | None = None,
        *,
        instance_id: str | None = None,
        correlation_id: str | None = None,
        settled: bool = False,
    ) -> dict[str, Any]:
        """Starts an instance, and returns the outcome: `workflowInstanceId`, `subStatus`, `output` …

        It comes when the first burst is committed; with `settled`, when the instance waits or is over.
        A start that says the `instance_id` happens once: a repeated one is `Refused` as `alreadyDone`.
        """
        body = {"input": input or {}}
        body |= {"instanceId": instance_id} if instance_id else {}
        body |= {"correlationId": correlation_id} if correlation_id else {}
        return await self._command(f"start.{token(definition, 'definition')}", body, settled)

    async def resume(
        self,
        instance_id: str,
        bookmark_id: str | None = None,
        input: dict[str, Any] | None = None,
        *,
        settled: bool = False,
    ) -> dict[str, Any]:
        """Resumes an instance at a bookmark, which may be left out where there is one alone."""
        body = {"input": input or {}}
        body |= {"bookmarkId": bookmark_id} if bookmark_id else {}
        return await self._command(f"resume.{token(instance_id, 'instance_id')}", body, settled)

    async def cancel(self, instance_id: str, reason: str | None = None) -> dict[str, Any]:
        """Cancels an instance."""
        body = {"reason": reason} if reason else {}
        return await self._command(f"cancel.{token(instance_id, 'instance_id')}", body, False)

    async def signal(
        self,
        event: str,
        payload: Any = None,
        *,
        instance_id: str | None = None,
        correlation_id: str | None = None,
        id: str | None = None,
    ) -> None:
        """Publishes an event. When this returns, JetStream has stored it."""
        body = {"payload": payload}
        body |= {"instanceId": instance_id} if instance_id else {}
        body |= {"correlationId": correlation_id} if correlation_id else {}
        headers = {"Nats-Msg-Id": id or uuid.uuid4().hex}
        subject = f"staunch.cmd.event.{dotted(event, 'event')}"
        data = json.dumps(body).encode()
        await self._nc.jetstream().publish(subject, data, timeout=self._timeout, headers=headers)

    async def query(self, instance_id: str) -> dict[str, Any]:
        """An instance as it is: `subStatus`, `output`, `incidents`, `bookmarks`, `workflowState` …"""
        return await self._ask(f"staunch.api.get.{token(instance_id, 'instance_id')}", b"", None)

    async def payload(self, hash: str, *, bytes_max: int = PAYLOAD_BYTES_MAX) -> bytes:
        """The bytes of a payload, such as one that `{"$payload": …}` names in an output."""
        subject, whole, number, parts = f"staunch.api.payload.{token(hash, 'hash')}", bytearray(), 0, 1
        while number < parts:
            part = await self._request(subject, json.dumps({"part": number}).encode(), None)
            headers = part.headers or {}
            size, parts = (int(headers[f"Staunch-Payload-{what}"]) for what in ("Bytes", "Parts"))
            if size > bytes_max:
                detail = f"the payload {hash} has {size} bytes, more than the {bytes_max} here"
                raise RequestError(413, "Too large", detail)
            whole += part.data
            number += 1
            if not part.data or len(whole) > size:
                break
        if f"sha256-{hashlib.sha256(whole).hexdigest()}" != hash:
            raise RequestError(500, "Damaged", f"the bytes that were read are not those of {hash}")
        return bytes(whole)

    async def watch(self, instance_id: str, *, every: float = 5.0) -> AsyncIterator[dict[str, Any]]:
        """Follows an instance until it is over: its events, each with its name as `event`.

        Events are heard live, and may be lost; the end is not: the instance is asked for every few
        seconds, and again when nobody answers, or with 408, 429 or 5xx. An instance that does not exist
        yet is waited for. A watch of one that never ends has to be cancelled.
        """
        events = await self._nc.subscribe(f"staunch.event.*.{token(instance_id, 'instance_id')}.*")
        patience = 0.05
        try:
            while True:
                try:
                    heard = await events.next_msg(timeout=patience)
                    event = json.loads(heard.data) | {"event": heard.subject.rsplit(".", 1)[-1]}
                except (nats.errors.TimeoutError, asyncio.TimeoutError):
                    event = await self._is_over(instance_id)
                patience = every
                if event:
                    yield event
                if event and event["event"] in _OVER.values():
                    return
        finally:
            await events.unsubscribe()

    async def _is_over(self, instance_id: str) -> dict[str, Any] | None:
        try:
            found = await self.query(instance_id)
        except RequestError as error:
            if error.status not in (404, 408, 429) and error.status < 500:
                raise
            return None
        except _PASSING:
            return None
        if found["subStatus"] not in _OVER:
            return None
        names = ("definitionId", "definitionVersion", "correlationId", "subStatus", "version")
        names += ("output", "incidents")
        rest = {name: found[name] for name in names}
        return {"event": _OVER[found["subStatus"]], "workflowInstanceId": found["id"], **rest}

    async def _command(self, rest: str, body: dict[str, Any], settled: bool) -> dict[str, Any]:
        headers = {"Nats-Msg-Id": uuid.uuid4().hex}
        headers["Staunch-Reply-When"] = "settled" if settled else "committed"
        outcome = await self._ask(f"staunch.api.{rest}", json.dumps(body).encode(), headers)
        # A command that waits is kept, and applied later.
        if outcome.get("refusal") not in (None, "waiting"):
            raise Refused(outcome)
        return outcome

    async def _ask(
        self, subject: str, data: bytes, headers: dict[str, str] | None
    ) -> dict[str, Any]:
        return json.loads((await self._request(subject, data, headers)).data)

    async def _request(self, subject: str, data: bytes, headers: dict[str, str] | None) -> Msg:
        """The answer, unless it is a problem."""
        answer = await self._nc.request(subject, data, timeout=self._timeout, headers=headers)
        if "Nats-Service-Error-Code" in (answer.headers or {}):
            said = json.loads(answer.data)
            raise RequestError(said["status"], said["title"], said["detail"])
        return answer
