"""Processes that end with the test, addresses of their own, and a client of the API."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

START_MAX = 120
LOOK_AGAIN = 0.1


def limit(seconds):
    """Ends the script with a trace of where it is, if it takes longer."""

    def end(*_):
        raise AssertionError(f"the script takes longer than {seconds} s")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)


def spawn(command, log, **how):
    """Starts a process in a group of its own; it is killed when this one is gone."""
    # Not by preexec_fn: the code of Python that it would run after the fork can block where this
    # process has threads.
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        **how,
    )


def kill(processes):
    """Ends what is left after a failure."""
    for process in processes:
        if isinstance(process, subprocess.Popen) and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def is_free(address, port):
    """Whether nothing listens there, on this address or on all."""
    with socket.socket() as probe:
        try:
            probe.bind((address, port))
            return True
        except OSError:
            return False


def addresses(names):
    """A loopback address for each name, from a network that nothing uses."""
    high = 1 + os.getpid() % 250
    for low in range(1, 255):
        found = {name: f"127.{high}.{low}.{number}" for number, name in enumerate(names, 1)}
        ports = (4222, 5001, 5002, 5432)
        if all(is_free(address, port) for address in found.values() for port in ports):
            return found
    raise SystemExit("no loopback network is free")


def eventually(what, condition, limit=START_MAX):
    give_up = time.monotonic() + limit
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < give_up, f"not within {limit} s: {what}"
        time.sleep(LOOK_AGAIN)


class Api:
    """A client of one address; answers are pairs of a status and a body, 0 if nothing answers."""

    def __init__(self, url, key=None):
        self.url, self.key = url, key

    def __call__(self, path, body=None, headers=None):
        headers = {"Content-Type": "application/json", **(headers or {})}
        if self.key:
            headers["Authorization"] = f"ApiKey {self.key}"
        is_bytes = body is None or isinstance(body, bytes)
        data = body if is_bytes else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
                is_json = "json" in answer.headers.get("Content-Type", "")
                return answer.status, json.loads(text) if is_json else text.decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)


def ok(answer):
    status, body = answer
    assert 200 <= status < 300, (status, body)
    return body


ORDER = {
    "definitionId": "order",
    "name": "order",
    "publish": True,
    "root": {
        "type": "Sequence",
        "id": "all",
        "activities": [
            {
                "type": "Delay",
                "id": "delay",
                "timeSpan": {
                    "typeName": "TimeSpan",
                    "expression": {"type": "Literal", "value": "00:00:00.2"},
                },
            },
            {"type": "WriteLine", "id": "line", "text": "done"},
        ],
    },
}
WAITS = {
    "definitionId": "waits",
    "name": "waits",
    "publish": True,
    "root": {
        "type": "Sequence",
        "id": "all",
        "activities": [
            {"type": "Event", "id": "event", "eventName": "Go"},
        ],
    },
}


def link(api):
    """A link that resumes an instance, as the API makes it."""
    ok(api("/elsa/api/workflow-definitions", WAITS))
    started = ok(api("/elsa/api/workflow-instances", {"definitionId": "waits"}))
    instance = f"/elsa/api/workflow-instances/{started['workflowInstanceId']}"
    mark = ok(api(f"{instance}/bookmarks"))["items"][0]["id"]
    return ok(api(f"{instance}/bookmarks/{mark}/url", {}))["url"]


def check_address(url, key):
    """The audit log has the caller's own address, whatever its headers say."""
    source, place = "127.99.98.97", urllib.parse.urlsplit(url)
    for forged in ("6.6.6.6", "127.0.0.1"):
        body = json.dumps({"name": forged, "permissions": ["read:*"]}).encode()
        head = (
            f"POST {place.path}/elsa/api/api-keys HTTP/1.1\r\nHost: {place.netloc}\r\n"
            f"Authorization: ApiKey {key}\r\nContent-Type: application/json\r\n"
            f"X-Forwarded-For: {forged}\r\nForwarded: for={forged}\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        address = (place.hostname, place.port)
        with socket.create_connection(address, 30, source_address=(source, 0)) as connection:
            connection.sendall(head.encode() + body)
            answer = connection.makefile("rb").read().decode()
        assert re.match(r"HTTP/1.1 20[01]", answer), answer
    audit = ok(Api(url, key)("/elsa/api/audit"))["items"]
    made = {entry["address"] for entry in audit if "key" in entry["what"]}
    assert made == {source}, audit
