"""Runs nodes behind nginx or Caddy, with the example of compose/proxies, on loopback.

Only addresses are replaced in the example: those of the nodes, of the proxy, and of the site. And the
time after which nginx takes a node for one that hangs, so that the test is over sooner.

Usage: proxy_run.py STAUNCH NATS_SERVER nginx|caddy
"""

import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from compose_file import COMPOSE
from processes import Api, ORDER, addresses, check_address, eventually, kill, limit, link, ok, spawn
from servers import start_nats, start_postgres
from tools import postgresql, program

STAUNCH, NATS_SERVER, PROXY = sys.argv[1:4]
NAMES = ("node-1", "node-2", "node-3")
KEY = "a-key-of-this-test-0123456789abcdef"
# In place of 65 s; longer than the 15 s between two signs of life on a stream.
HANGS_AFTER = 18
MIB = 1024 * 1024
# An endpoint that answers with the body that it gets.
MIRROR = {
    "definitionId": "mirror",
    "name": "mirror",
    "publish": True,
    "root": {
        "type": "Sequence",
        "id": "all",
        "variables": [{"name": "body"}],
        "activities": [
            {
                "type": "HttpEndpoint",
                "id": "endpoint",
                "path": "mirror",
                "supportedMethods": ["POST"],
                "authorize": False,
                "canStartWorkflow": True,
                "parsedContent": "body",
            },
            {
                "type": "WriteFileHttpResponse",
                "id": "answer",
                "content": {"expression": {"type": "JavaScript", "value": "variables.body"}},
                "filename": "back.bin",
            },
        ],
    },
}
limit(300)


class World:
    """A NATS server, a database, three nodes, and the proxy in front of them."""

    def __init__(self, folder):
        self.folder, self.running = folder, []
        self.address = addresses(["nats", "postgres", "node-1", "node-2", "node-3", "site"])
        self.site = f"http://{self.address['site']}:8080"

    def spawn(self, name, command, **how):
        process = spawn(command, open(self.folder / f"{name}.log", "ab"), **how)
        self.running.append(process)
        return process

    def start(self, proxy):
        nats = self.address["nats"]
        self.running.append(start_nats(NATS_SERVER, self.folder, nats))
        postgres, database = start_postgres(BIN, self.folder, self.address["postgres"])
        self.running.append(postgres)
        environment = {
            "PATH": os.environ["PATH"],
            "STAUNCH_NATS_URL": f"nats://{nats}:4222",
            "STAUNCH_DATABASE_URL": database,
            "STAUNCH_AUTH": "api-key",
            "STAUNCH_API_KEY": KEY,
            "STAUNCH_BASE_URL": f"{self.site}/flows",
            "STAUNCH_TRUSTED_PROXIES": "127.0.0.1/32",
        }
        for verb in ("provision", "migrate"):
            run = (
                lambda: subprocess.run(
                    [STAUNCH, verb], env=environment, capture_output=True
                ).returncode
                == 0
            )
            eventually(verb, run)
        self.environment = environment
        self.nodes = [self.start_node(name) for name in NAMES]
        for name in NAMES:
            self.until_ready(name)
        (self.start_nginx if PROXY == "nginx" else self.start_caddy)(proxy)
        eventually("the proxy answers", lambda: self.api()("/health/ready")[0] == 200)

    def start_node(self, name):
        own = {
            **self.environment,
            "STAUNCH_LISTEN": f"{self.address[name]}:5001",
            "STAUNCH_NODE": name,
        }
        return self.spawn(name, [STAUNCH, "server", "--role", "all"], env=own, cwd=self.folder)

    def until_ready(self, name):
        ready = lambda: Api(f"http://{self.address[name]}:5001")("/health/ready")[0] == 200
        eventually(f"{name} is ready", ready)

    def translated(self, name):
        text = (COMPOSE / "proxies" / name).read_text()
        for number in (1, 2, 3):
            text = text.replace(f"10.0.0.{number}:", f"{self.address[f'node-{number}']}:")
        return text

    def start_nginx(self, nginx):
        text = self.translated("nginx.conf").replace(
            "listen 80;", f"listen {self.address['site']}:8080;"
        )
        text = text.replace("server_name example.com;", f"server_name {self.address['site']};")
        assert "proxy_read_timeout 65s;" in text
        text = text.replace("proxy_read_timeout 65s;", f"proxy_read_timeout {HANGS_AFTER}s;")
        (self.folder / "conf.d").mkdir()
        (self.folder / "conf.d/staunch.conf").write_text(text)
        paths = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "nginx.conf").write_text(
            f"pid {self.folder}/nginx.pid;\ndaemon off;\nworker_processes 1;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{paths}include {self.folder}/conf.d/*.conf;\n}}\n"
        )
        configured = [
            "-p",
            str(self.folder),
            "-c",
            str(self.folder / "nginx.conf"),
            "-e",
            str(self.folder / "e"),
        ]
        self.spawn("proxy", [nginx, *configured])

    def start_caddy(self, caddy):
        text = self.translated("Caddyfile")
        site = f"{self.site} {{\n\tbind {self.address['site']}"
        text = "{\n\tadmin off\n\tauto_https off\n}\n" + text.replace("http://example.com {", site)
        (self.folder / "Caddyfile").write_text(text)
        own = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        self.spawn(
            "proxy",
            [caddy, "run", "--config", self.folder / "Caddyfile", "--adapter", "caddyfile"],
            env=own,
        )

    def api(self, key=KEY):
        return Api(f"{self.site}/flows", key)


def the_api_is_below_the_path(world):
    assert ok(world.api()("/elsa/api/workflow-definitions", ORDER))["everywhere"] is True
    for _ in range(10):
        ok(world.api()("/elsa/api/workflow-instances", {"definitionId": "order"}))
    outside = Api(world.site, KEY)("/elsa/api/workflow-instances")
    assert "totalCount" not in outside[1], outside


def links_lead_back_through_the_proxy(world):
    url = link(world.api())
    assert url.startswith(f"{world.site}/flows/bookmarks/resume?t="), url
    with urllib.request.urlopen(url, timeout=30) as answer:
        assert answer.status == 200


def the_address_of_the_caller_is_known_and_cannot_be_forged(world):
    check_address(f"{world.site}/flows", KEY)


def listen_for_the_end(world, definition):
    """An event for the end of an instance; it is set as soon as it comes through the proxy."""
    request = urllib.request.Request(
        f"{world.site}/flows/elsa/api/events?after=now&definitionId={definition}",
        headers={"Authorization": f"ApiKey {KEY}"},
    )
    seen = threading.Event()
    stream = urllib.request.urlopen(request, timeout=60)

    def read():
        for line in stream:
            if line.startswith(b"event: finished"):
                seen.set()
                return

    threading.Thread(target=read, daemon=True).start()
    return seen


def live_events_come_at_once(world):
    seen = listen_for_the_end(world, "order")
    ok(world.api()("/elsa/api/workflow-instances", {"definitionId": "order"}))
    # A proxy that holds events back would wait for 4 or 8 KiB of them.
    assert seen.wait(10), "no event came through the proxy"


def a_stream_may_be_silent(world):
    """For longer than every timeout: signs of life keep it."""
    text = json.dumps(ORDER).replace('"order"', '"slow"')
    text = text.replace("00:00:00.2", f"00:00:{HANGS_AFTER + 4}")
    ok(world.api()("/elsa/api/workflow-definitions", json.loads(text)))
    seen = listen_for_the_end(world, "slow")
    ok(world.api()("/elsa/api/workflow-instances", {"definitionId": "slow"}))
    assert seen.wait(HANGS_AFTER + 20), "the stream broke while nothing happened"


def the_hub_is_reached_by_a_websocket(world):
    with socket.create_connection((world.address["site"], 8080), 30) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        connection.sendall(
            f"GET /flows/elsa/hubs/workflow-instance HTTP/1.1\r\nHost: {world.address['site']}:8080\r\n"
            f"Authorization: ApiKey {KEY}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        reader = connection.makefile("rb")
        status = reader.readline().decode()
        assert " 101 " in status, status
        while reader.readline().strip():
            pass
        text = b'{"protocol":"json","version":1}\x1e'
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(text))
        connection.sendall(struct.pack("!BB", 0x81, 0x80 | len(text)) + mask + masked)
        head = reader.read(2)
        answer = reader.read(head[1] & 0x7F)
        assert answer.startswith(b"{}\x1e"), answer


def bodies_are_as_large_as_the_nodes_take_them(world):
    """A definition, a payload and the body of an endpoint reach a node, and the node refuses what is
    above its limits."""
    api = world.api()
    text = json.dumps({**ORDER, "description": "x" * 3 * MIB}).replace('"order"', '"large"')
    ok(api("/elsa/api/workflow-definitions", json.loads(text)))
    ok(api("/elsa/api/workflow-definitions", MIRROR))
    kind = {"Content-Type": "application/octet-stream"}
    for mount in ("/elsa/api", "/api"):
        kept = ok(api(f"{mount}/payloads", os.urandom(20 * MIB), kind))
        assert kept["size"] == 20 * MIB, kept
    body = b"x" * (20 * MIB)
    answered = ok(api("/workflows/mirror", body, kind))
    assert answered == body.decode(), f"{len(answered)} bytes came back"
    for path, refused in (
        ("/elsa/api/workflow-definitions", b"x" * (5 * MIB)),
        ("/elsa/api/payloads", b"x" * (101 * MIB)),
    ):
        status, answered = api(path, refused, kind if path.endswith("payloads") else None)
        # Caddy closes the connection when it has the answer, which this client may miss.
        is_missed = PROXY == "caddy" and status == 0
        assert is_missed or status == 413, (path, status, answered)
        assert is_missed or json.loads(answered)["status"] == 413, (path, answered)


def a_rolling_restart_is_seen_by_no_caller(world):
    """Callers that read and start, without keys of their own, while one node after the other is
    started anew: all are answered, and each start makes one instance."""
    text = json.dumps(ORDER).replace('"order"', '"rolled"')
    ok(world.api()("/elsa/api/workflow-definitions", json.loads(text)))
    over, answers = threading.Event(), []

    def call(path, body):
        api = world.api()
        while not over.is_set():
            answers.append((body is not None, *api(path, body)))

    calls = [("/elsa/api/workflow-definitions", None)] * 4
    calls += [("/elsa/api/workflow-instances", {"definitionId": "rolled"})] * 4
    callers = [threading.Thread(target=call, args=call_of, daemon=True) for call_of in calls]
    for caller in callers:
        caller.start()
    try:
        for number, name in enumerate(NAMES):
            world.nodes[number].terminate()
            world.nodes[number].wait()
            world.nodes[number] = world.start_node(name)
            world.until_ready(name)
    finally:
        over.set()
    for caller in callers:
        caller.join(60)
    wrong = [answer for answer in answers if not 200 <= answer[1] < 300]
    assert not wrong, f"{len(wrong)} of {len(answers)}: {wrong[:3]}"
    started = sum(is_start for is_start, *_ in answers)
    query = "/elsa/api/workflow-instances?definitionId=rolled&pageSize=1"
    made = ok(world.api()(query))["totalCount"]
    assert made == started, f"{started} starts made {made} instances"
    print(f"{PROXY}: {len(answers)} calls, {started} of them starts", flush=True)


def a_node_that_hangs_is_passed_over(world):
    """Callers start workflows by GET while a node is frozen. Caddy learns that from its health checks.
    nginx learns it from requests without an answer, and gives each to the next node: all are
    answered, and each start makes one instance."""
    text = json.dumps(ORDER).replace('"order"', '"frozen"')
    ok(world.api()("/elsa/api/workflow-definitions", json.loads(text)))
    over, answers = threading.Event(), []

    def call():
        api = world.api()
        while not over.is_set():
            began = time.monotonic()
            answer = api("/elsa/api/workflow-definitions/frozen/execute")
            answers.append((*answer, time.monotonic() - began))

    callers = [threading.Thread(target=call, daemon=True) for _ in range(6)]
    frozen = world.nodes[2]
    # In six seconds Caddy has looked, and nginx has forgotten that the node was started anew.
    steps = [lambda: frozen.send_signal(signal.SIGSTOP), lambda: [one.start() for one in callers]]
    try:
        for step in steps if PROXY == "caddy" else reversed(steps):
            step()
            time.sleep(6)
        if PROXY == "nginx":
            time.sleep(HANGS_AFTER)
    finally:
        over.set()
        for caller in callers:
            caller.join(60)
        frozen.send_signal(signal.SIGCONT)
    world.until_ready(NAMES[2])
    wrong = [answer for answer in answers if answer[0] != 200]
    assert not wrong, f"{len(wrong)} of {len(answers)}: {wrong[:3]}"
    waited = sum(seconds > HANGS_AFTER - 1 for *_, seconds in answers)
    assert waited <= 2 * len(callers), f"{waited} callers waited for the frozen node"
    assert (waited > 0) == (PROXY == "nginx"), f"{waited} callers waited for the frozen node"
    query = "/elsa/api/workflow-instances?definitionId=frozen&pageSize=1"
    made = ok(world.api()(query))["totalCount"]
    assert made == len(answers), f"{len(answers)} starts made {made} instances"
    print(f"{PROXY}: {waited} of {made} callers waited for the frozen node", flush=True)


def a_node_that_is_killed_is_passed_over(world):
    world.nodes[0].kill()
    world.nodes[0].wait()
    for number in range(20):
        # The proxy must not repeat a POST that a dying connection took along; its caller may.
        headers = {"Idempotency-Key": f"killed-{number}"}
        start = (
            lambda: world.api()("/elsa/api/workflow-instances", {"definitionId": "order"}, headers)[
                0
            ]
            == 200
        )
        eventually("a start while a node is gone", start, 10)


PROGRAM = program(PROXY, PROXY)
BIN = postgresql()
folder = pathlib.Path(tempfile.mkdtemp(prefix="staunch-proxy-"))
folder.chmod(0o755)
world = World(folder)
try:
    world.start(PROGRAM)
    for check in [
        the_api_is_below_the_path,
        links_lead_back_through_the_proxy,
        the_address_of_the_caller_is_known_and_cannot_be_forged,
        live_events_come_at_once,
        a_stream_may_be_silent,
        the_hub_is_reached_by_a_websocket,
        bodies_are_as_large_as_the_nodes_take_them,
        a_rolling_restart_is_seen_by_no_caller,
        a_node_that_hangs_is_passed_over,
        a_node_that_is_killed_is_passed_over,
    ]:
        check(world)
        print(f"{PROXY}: {check.__name__}", flush=True)
except BaseException:
    for log in folder.glob("*.log"):
        print(f"--- {log.name}\n{log.read_text()[-1500:]}")
    raise
finally:
    kill(world.running)
    shutil.rmtree(folder, ignore_errors=True)
