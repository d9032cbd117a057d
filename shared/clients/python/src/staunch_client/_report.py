"""Results that no message carries: objects of JetStream, which a header of the report names."""

import asyncio
import base64
import hashlib
import json
import logging
import time
from typing import NamedTuple

from nats.aio.client import Client as Nats
from nats.errors import Error
from nats.nuid import NUID

from ._wire import HEADER_BYTES

log = logging.getLogger("staunch")

# The object store of values that no message carries.
PAYLOADS_STORE = "staunch_payloads"
# The largest result of a task, as JSON: no workflow could read a larger one.
RESULT_BYTES_MAX = 8 * 1024 * 1024
# What to look at where an object is never stored: a refused message has no answer.
OBJECTS_HINT = (
    "a user of NATS puts objects only if its permissions were printed with --with-objects (staunch worker creds)"
)
# A part of an object, unless a message of this NATS carries less.
_PART_BYTES = 128 * 1024
_ANSWER_SECONDS = 5.0
# How often it looks whether a message is refused.
_LOOK_SECONDS = 0.05
# How long a try to write an object is followed by another one.
_TRYING_SECONDS = 120.0
_PAUSE_SECONDS_MAX = 5.0
_NUID = NUID()


class Report(NamedTuple):
    """What a worker says about an attempt: a body, and the object that has the result, where the body has none."""

    body: bytes
    object: str | None = None

    def headers(self) -> dict[str, str]:
        return {"Staunch-Payload": f"$payload={self.object}"} if self.object else {}


async def stored(nc: Nats, below: str, value: bytes) -> str:
    """Writes an object below this name until it is stored, and returns its name; what it raises is the reason
    why it is not stored after two minutes.

    The name says what is in it: an object that somebody has replaced is not taken for this one.
    """
    name = f"{below}/sha256-{hashlib.sha256(value).hexdigest()}"
    begun, pause = time.monotonic(), 0.1
    while True:
        try:
            await _put(nc, name, value)
            return name
        except Exception as error:  # noqa: BLE001 - full, away, in election: it is tried again
            if time.monotonic() - begun > _TRYING_SECONDS:
                raise
            log.warning("%s: a large result is not stored yet: %s", name, error)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _PAUSE_SECONDS_MAX)


async def _put(nc: Nats, name: str, value: bytes) -> None:
    """Writes an object.

    This is what a client of object stores does, and needs no right but to publish its parts and what says of them.
    """
    nuid = _NUID.next().decode()
    size = max(1, min(_PART_BYTES, nc.max_payload - HEADER_BYTES))
    starts = range(0, len(value), size)
    for start in starts:
        await _publish(nc, f"$O.{PAYLOADS_STORE}.C.{nuid}", value[start : start + size])
    about = {
        "name": name,
        "bucket": PAYLOADS_STORE,
        "nuid": nuid,
        "size": len(value),
        "chunks": len(starts),
        "options": {"max_chunk_size": size},
        "digest": "SHA-256=" + base64.urlsafe_b64encode(hashlib.sha256(value).digest()).decode(),
    }
    subject = f"$O.{PAYLOADS_STORE}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"
    await _publish(nc, subject, json.dumps(about).encode(), {"Nats-Rollup": "sub"})


async def _publish(nc: Nats, subject: str, payload: bytes, headers: dict[str, str] | None = None) -> None:
    """Publishes until the stream has it.

    A message that the server refuses has no answer: that it is refused is the last error of the connection,
    until there is another one.
    """
    before = nc.last_error
    publishing = asyncio.ensure_future(
        nc.jetstream().publish(subject, payload, timeout=_ANSWER_SECONDS, headers=headers)
    )
    try:
        while not (await asyncio.wait({publishing}, timeout=_LOOK_SECONDS))[0]:
            last = nc.last_error
            if last is not before and _is_refusal(str(last), subject):
                raise Error(f'Permissions Violation for Publish to "{subject}"')
        await publishing
    finally:
        publishing.cancel()


def _is_refusal(text: str, subject: str) -> bool:
    # The library has the text of the server in small letters.
    text = text.casefold()
    return "permissions violation" in text and f'"{subject.casefold()}"' in text
