"""Subjects and bounds, as the protocol has them."""

import string
from collections.abc import Iterator
from typing import Any

VERSION = "0.1.0"
STREAM = "STAUNCH_TASKS"
# A larger command is refused, however large a message of this NATS may be.
COMMAND_BYTES_MAX = 512 * 1024
# What the subject and the headers of a command take at most of the broker's `max_payload`.
HEADER_BYTES = 2 * 1024
# Bytes of a payload that is read into memory; of a task, those of all payloads of its input together.
PAYLOAD_BYTES_MAX = 8 * 1024 * 1024
# The largest progress of a task, as JSON.
PROGRESS_BYTES_MAX = 64 * 1024
_PLAIN = frozenset((string.ascii_letters + string.digits + "_-").encode())


def _must_be_text(name: Any, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} is {name!r}: give a str")


def token(name: str, what: str = "the name") -> str:
    """A name as one token of a subject. `what` is the argument with the name."""
    _must_be_text(name, what)
    escaped = (chr(byte) if byte in _PLAIN else f"={byte:02X}" for byte in name.encode())
    return "".join(escaped) or "="


def dotted(name: str, what: str = "the name") -> str:
    """The name of an event: its dots separate tokens, unless one would be empty."""
    _must_be_text(name, what)
    parts = name.split(".")
    return ".".join(map(token, parts)) if all(parts) else token(name)


def body_bytes_max(max_payload: int) -> int:
    """The largest body of a command."""
    return min(COMMAND_BYTES_MAX, max_payload - HEADER_BYTES)


def stand_ins(value: Any) -> Iterator[tuple[Any, Any, str]]:
    """Every object inside that stands for a value in a payload: what it is in, its key, the payload."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        hash = item.get("$payload") if isinstance(item, dict) else None
        rest = item.keys() - {"$payload"} if isinstance(hash, str) else None
        is_it = rest == set() or rest == {"bytes"} and type(item["bytes"]) is int
        if is_it and hash.startswith("sha256-"):
            yield value, key, hash
        else:
            yield from stand_ins(item)
