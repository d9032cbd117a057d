"""Subjects and bounds, as the protocol has them."""

import string

VERSION = "0.1.0"
STREAM = "STAUNCH_TASKS"
# A larger command is refused, however large a message of this NATS may be.
COMMAND_BYTES_MAX = 512 * 1024
# What the subject and the headers of a command take at most of the broker's `max_payload`.
HEADER_BYTES = 2 * 1024
_PLAIN = frozenset((string.ascii_letters + string.digits + "_-").encode())


def token(name: str) -> str:
    """A name as one token of a subject."""
    escaped = (chr(byte) if byte in _PLAIN else f"={byte:02X}" for byte in name.encode())
    return "".join(escaped) or "="


def dotted(name: str) -> str:
    """The name of an event: its dots separate tokens, unless one would be empty."""
    parts = name.split(".")
    return ".".join(map(token, parts)) if all(parts) else token(name)


def body_bytes_max(max_payload: int) -> int:
    """The largest body of a command."""
    return min(COMMAND_BYTES_MAX, max_payload - HEADER_BYTES)
