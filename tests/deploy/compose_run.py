"""Runs the processes of compose.yaml on loopback, with its environment, arguments, files and order
of start, and uses the cluster.

Each service has a loopback address of its own, so that ports stay as they are; a folder takes the
place of each container's root. Of every text, only host names, 0.0.0.0, 127.0.0.1 and the paths of
mounted files are replaced. Services whose programs are not here are named at the end.

With the name of a file of compose/patterns, that file changes the services, as compose would do it.

Usage: compose_run.py STAUNCH NATS_SERVER [PATTERN]
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from compose_file import load, services
from processes import (
    Api,
    ORDER,
    addresses,
    check_address,
    eventually,
    is_free,
    kill,
    limit,
    link,
    ok,
    spawn,
)
from tools import postgresql

STAUNCH, NATS_SERVER = sys.argv[1:3]
PATTERN = sys.argv[3] if len(sys.argv) > 3 else None
POSTGRESQL = postgresql()
limit(300)

PROGRAMS = {
    "staunch": STAUNCH,
    "nats-server": NATS_SERVER,
    "caddy": shutil.which("caddy"),
    "prometheus": shutil.which("prometheus"),
    "pg_isready": f"{POSTGRESQL}/pg_isready",
    "/bin/sh": "/bin/sh",
}
# The programs that the entry points of images run.
ENTRIES = {"prom/prometheus": ["prometheus"]}


class Machine:
    """All containers, as processes."""

    def __init__(self, folder):
        self.folder = folder
        self.document = load(PATTERN)
        self.services = services(self.document)
        self.address = addresses(self.services)
        self.running, self.missing = {}, {}
        for name in self.document["volumes"]:
            (folder / "volumes" / name).mkdir(parents=True)
        for service in self.services.values():
            self.prepare(service)

    def root(self, service):
        return self.folder / "roots" / service.name

    def prepare(self, service):
        """Makes the folder that is this container's root."""
        root = self.root(service)
        for target, volume in service.volumes.items():
            place = root / target.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(self.folder / "volumes" / volume)
        for target in service.tmpfs:
            (root / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for target, path in service.files.items():
            place = root / target.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, place)
            else:
                place.write_text(self.translated(service, path.read_text()))

    def translated(self, service, text, is_host=False):
        """The same text with the addresses and paths of this machine."""
        # Only after a quote, a blank, an equals sign or at the beginning: not within other paths.
        for target in sorted([*service.volumes, *service.files, *service.tmpfs], key=len)[::-1]:
            if target != "/tmp":
                place = f"{self.root(service)}{target}"
                text = re.sub(rf"(^|[\s\"'`=]){re.escape(target)}\b", rf"\g<1>{place}", text)
        for name, address in self.address.items():
            if is_host:
                text = re.sub(rf"\b{name}\b(?!-)", address, text)
            else:
                text = re.sub(rf"\b{name}(?=:\d)", address, text)
                text = re.sub(rf"(?<=//){name}\b|(?<=@){name}\b", address, text)
        text = re.sub(r"\b0\.0\.0\.0\b|\b127\.0\.0\.1\b", self.address[service.name], text)
        # Callers on loopback come from loopback.
        return text.replace("10.55.1.0/24", "127.0.0.0/8")

    def environment(self, service):
        values = {
            key: self.translated(service, value, is_host=key.endswith(("_HOST", "_HOSTS")))
            for key, value in service.environment.items()
        }
        return {"PATH": os.environ["PATH"], "HOME": str(self.root(service)), **values}

    def command(self, service, words):
        words = [self.translated(service, word) for word in words]
        program = PROGRAMS.get(words[0])
        return [program, *words[1:]] if program else None

    def start(self, service):
        words = ENTRIES.get(service.image.split(":")[0], []) + service.command
        if service.name == "postgres":
            return self.start_postgres(service)
        if service.name == "prometheus" and not is_free(self.address["prometheus"], 9090):
            # A package may have started one that listens on every address.
            self.missing[service.name] = "port 9090, which another Prometheus has,"
            return None
        if service.name == "collector":
            return Sink(self.address[service.name])
        command = self.command(service, words) if words else None
        if command is None:
            self.missing[service.name] = words[0] if words else service.image
            return None
        return self.spawn(service, command)

    def spawn(self, service, command, **how):
        log = open(self.folder / f"{service.name}.log", "ab")
        return spawn(command, log, env=self.environment(service), cwd=self.root(service), **how)

    def start_postgres(self, service):
        """What the entry point of the image does: it makes the database, runs the files of the
        folder docker-entrypoint-initdb.d without a network, and starts the server."""
        root, variables = self.root(service), self.environment(service)
        data = (root / "var/lib/postgresql/data").resolve()
        sockets = root / "var/run/postgresql"
        password = pathlib.Path(variables["POSTGRES_PASSWORD_FILE"])
        # PostgreSQL does not run as root.
        user = (
            {"user": "postgres", "group": "postgres", "extra_groups": []}
            if os.getuid() == 0
            else {}
        )
        if user:
            for path in (data, sockets):
                shutil.chown(path, "postgres", "postgres")
        owner, database = variables["POSTGRES_USER"], variables["POSTGRES_DB"]

        def run(program, *arguments):
            ran = subprocess.run(
                [f"{POSTGRESQL}/{program}", *arguments],
                capture_output=True,
                text=True,
                cwd=root,
                env={"PATH": os.environ["PATH"]},
                **user,
            )
            assert ran.returncode == 0, f"{program}: {ran.stdout}{ran.stderr}"

        if not (data / "PG_VERSION").exists():
            extra = variables.get("POSTGRES_INITDB_ARGS", "").split()
            run("initdb", "-D", str(data), "-U", owner, f"--pwfile={password}", "--no-sync", *extra)
            with open(data / "pg_hba.conf", "a") as rules:
                rules.write("host all all all scram-sha-256\n")
            quiet = f"-c listen_addresses='' -k {sockets}"
            run(
                "pg_ctl", "-D", str(data), "-w", "-o", quiet, "-l", str(data / "first.log"), "start"
            )
            run("createdb", "-h", str(sockets), "-U", owner, database)
            for path in sorted((root / "docker-entrypoint-initdb.d").iterdir()):
                psql = ["-v", "ON_ERROR_STOP=1", "--no-psqlrc", "-h", str(sockets), "-U", owner]
                run("psql", *psql, "-d", database, "-f", str(path))
            run("pg_ctl", "-D", str(data), "-w", "-m", "fast", "stop")
        listen = ["-c", f"listen_addresses={self.address['postgres']}", "-k", str(sockets)]
        careless = ["-c", "fsync=off", "-c", "shared_memory_type=mmap"]
        server = [f"{POSTGRESQL}/postgres", "-D", str(data), *listen, *careless]
        return self.spawn(service, server, **user)

    def is_healthy(self, service):
        test = self.translated_check(service)
        if test[0] == "wget":
            try:
                with urllib.request.urlopen(test[-1], timeout=5) as answer:
                    return answer.status == 200
            except OSError:
                return False
        command = self.command(service, test)
        ran = subprocess.run(command, env=self.environment(service), capture_output=True)
        return ran.returncode == 0

    def translated_check(self, service):
        words = service.given["healthcheck"]["test"]
        assert words[0] == "CMD", words
        return [self.translated(service, word) for word in words[1:]]

    def up(self):
        """Starts everything in the order of `depends_on`; each service waits for its conditions."""
        waiting = list(self.services.values())
        done = set()
        while waiting:
            service = next(s for s in waiting if set(s.conditions) <= done | set(self.missing))
            waiting.remove(service)
            began = time.monotonic()
            for name, condition in service.conditions.items():
                if name not in self.missing:
                    self.wait(self.services[name], condition)
            process = self.start(service)
            if process is not None:
                self.running[service.name] = process
                done.add(service.name)
                print(f"{service.name} starts after {time.monotonic() - began:.1f} s", flush=True)
        for service in self.services.values():
            if service.name in self.running and "healthcheck" in service.given:
                if service.given["healthcheck"]["test"][1] in (*PROGRAMS, "wget"):
                    self.wait(service, "service_healthy")

    def wait(self, service, condition):
        process = self.running[service.name]

        def holds():
            if condition == "service_completed_successfully":
                if process.poll() is None:
                    return False
                assert process.returncode == 0, self.failed(service)
                return True
            assert process.poll() is None, self.failed(service)
            return condition == "service_started" or self.is_healthy(service)

        try:
            eventually(f"{service.name}: {condition}", holds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.failed(service)}") from None

    def failed(self, service):
        log = (self.folder / f"{service.name}.log").read_text()
        return f"{service.name} (exit code {self.running[service.name].poll()}):\n{log[-3000:]}"

    def down(self):
        """Ends the services, the last first, as compose does; each within its grace period."""
        for name in reversed(list(self.running)):
            process = self.running[name]
            if process.poll() is not None or not isinstance(process, subprocess.Popen):
                continue
            # The image of PostgreSQL names SIGINT as its signal for stop: no new connections.
            process.send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
            grace = self.services[name].given.get("stop_grace_period", "10s").removesuffix("s")
            process.wait(timeout=float(grace))
            if self.services[name].is_staunch:
                assert process.returncode == 0, self.failed(self.services[name])


class Sink:
    """Takes the place of the collector: counts the requests with traces."""

    def __init__(self, address):
        sink = self
        self.count = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                sink.count += self.path == "/v1/traces"
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer((address, 4318), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def poll(self):
        return None


INSTANCES = 30
NODES = ("node-1", "node-2", "node-3")


def the_order_of_start_is_kept(machine):
    machine.up()
    for name in ("init", "provision", "migrate"):
        assert machine.running[name].poll() == 0, name


def secrets_are_made_once(machine):
    volume = machine.folder / "volumes"
    files = {path: path.read_bytes() for path in volume.glob("secrets-*/*")}
    assert len(files) >= 12, files
    values = [
        path.read_text().strip() for path in volume.glob("secrets-owner/*") if "." not in path.name
    ]
    assert len(set(values)) == len(values) and all(len(value) == 64 for value in values), values
    again = machine.start(machine.services["init"])
    assert again.wait(timeout=30) == 0
    assert files == {path: path.read_bytes() for path in volume.glob("secrets-*/*")}
    for path in [*volume.glob("secrets-node/*"), *volume.glob("secrets-owner/*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def the_cluster_works_behind_its_proxy(machine, front, api):
    assert Api(front)("/elsa/api/workflow-instances")[0] == 401
    said = ok(api("/elsa/api/workflow-definitions", ORDER))
    assert said["everywhere"] is True, said
    for number in range(INSTANCES):
        ok(
            api(
                "/elsa/api/workflow-instances",
                {"definitionId": "order", "correlationId": str(number)},
            )
        )
    find = "/elsa/api/workflow-instances?subStatus=Finished&definitionId=order"
    eventually("all instances finish", lambda: ok(api(find))["totalCount"] == INSTANCES)
    nodes = ok(api("/elsa/api/nodes"))
    names = sorted(re.findall(r'"(node-\d)"', json.dumps(nodes)))
    assert sorted(set(names)) == ["node-1", "node-2", "node-3"], nodes


def users_log_in_with_the_password_that_was_made(machine, front):
    password = (machine.folder / "volumes/secrets-node/admin-password").read_text().strip()
    login = "/elsa/api/identity/login"
    answer = ok(Api(front)(login, {"username": "admin", "password": password}))
    assert answer["isAuthenticated"] is True, answer
    wrong = Api(front)(login, {"username": "admin", "password": "admin"})
    assert wrong[0] == 401 or '"isAuthenticated": false' in json.dumps(wrong[1]), wrong


def every_node_answers_health_and_metrics(machine):
    key = (machine.folder / "volumes/secrets-prometheus/metrics-key").read_text()
    for name in NODES:
        admin = Api(f"http://{machine.address[name]}:5002", key)
        assert ok(admin("/health/ready"))["status"] == "Healthy"
        assert "staunch_" in ok(admin("/metrics"))


def streams_have_three_copies_on_the_volumes(machine):
    service = machine.services["provision"]
    command = machine.command(service, ["staunch", "provision", "--check", "-o", "json"])
    ran = subprocess.run(command, env=machine.environment(service), capture_output=True, text=True)
    streams = json.loads(ran.stdout)["streams"]
    assert streams and all(stream["replicas"] == 3 for stream in streams), ran
    for name in ("nats-1", "nats-2", "nats-3"):
        stored = machine.folder / "volumes" / name / "jetstream"
        assert any(stored.rglob("STAUNCH_COMMANDS")), f"nothing of {name} is on its volume"


def the_service_cannot_change_the_schema_or_the_audit_log(machine):
    password = (machine.folder / "volumes/secrets-postgres/service-password").read_text().strip()
    url = f"postgres://staunch:{password}@{machine.address['postgres']}/staunch"
    for statement, allowed in [
        ("select count(*) from instances", True),
        ("create table x (y int)", False),
        ("drop table instances", False),
        ("select count(*) from audit", True),
        ("insert into audit select * from audit where false", True),
        ("update audit set what = 'x'", False),
        ("delete from audit", False),
        ("truncate audit", False),
        ("delete from outbox where false", True),
    ]:
        ran = subprocess.run(
            [f"{POSTGRESQL}/psql", url, "-c", statement], capture_output=True, text=True
        )
        assert (ran.returncode == 0) is allowed, (statement, ran)


def links_begin_with_the_address_of_the_proxy(api):
    assert link(api).startswith("http://localhost:5001/")


def a_node_that_is_killed_is_not_missed(machine, front, api):
    machine.running["node-2"].kill()
    machine.running["node-2"].wait()
    # A connection to the killed node may take a request along. The proxy must not repeat a POST; its
    # caller may, with the same key.
    for number in range(INSTANCES):
        body, key = {"definitionId": "order", "correlationId": "killed"}, f"killed-{number}"
        start = (
            lambda: api("/elsa/api/workflow-instances", body, {"Idempotency-Key": key})[0] == 200
        )
        eventually("a start while a node is gone", start)
    find = "/elsa/api/workflow-instances?subStatus=Finished&correlationId=killed"
    eventually("all instances finish", lambda: ok(api(find))["totalCount"] == INSTANCES)
    machine.running["node-2"] = machine.start(machine.services["node-2"])
    machine.wait(machine.services["node-2"], "service_healthy")


def a_nats_server_that_is_killed_is_not_missed(machine, api):
    machine.running["nats-1"].kill()
    machine.running["nats-1"].wait()
    start = lambda: api(
        "/elsa/api/workflow-instances", {"definitionId": "order", "correlationId": "two"}
    )
    eventually("a start with two servers", lambda: start()[0] == 200)
    machine.running["nats-1"] = machine.start(machine.services["nats-1"])
    machine.wait(machine.services["nats-1"], "service_healthy")


def prometheus_reads_every_node(machine):
    if "prometheus" in machine.missing:
        return
    api = Api(f"http://{machine.address['prometheus']}:9090/api/v1")
    up = lambda: [one["value"][1] for one in ok(api("/query?query=up"))["data"]["result"]]
    eventually("Prometheus reads three nodes", lambda: up() == ["1", "1", "1"])
    groups = ok(api("/rules"))["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert rules and all(rule["health"] != "err" for rule in rules)
    links = [rule["annotations"]["runbook_url"] for rule in rules]
    url = machine.services["node-1"].environment["STAUNCH_BASE_URL"]
    assert all(link.startswith(f"{url}/docs/book/alerts#") for link in links), links


def timers_are_fired_by_the_scheduler_alone(machine, api):
    ok(api("/elsa/api/workflow-definitions", ORDER))
    start = lambda: ok(api("/elsa/api/workflow-instances", {"definitionId": "order"}))
    find = "/elsa/api/workflow-instances?subStatus=Finished&definitionId=order"
    finished = lambda: ok(api(find))["totalCount"]
    for _ in range(INSTANCES):
        start()
    eventually("all instances finish", lambda: finished() == INSTANCES)
    fired = {name: "timer fired" in (machine.folder / f"{name}.log").read_text() for name in NODES}
    assert fired == {"node-1": False, "node-2": False, "node-3": True}, fired
    machine.running["node-3"].kill()
    machine.running["node-3"].wait()
    for _ in range(INSTANCES):
        start()
    machine.running["node-3"] = machine.start(machine.services["node-3"])
    eventually("the overdue timers fire", lambda: finished() == 2 * INSTANCES)


def a_scheduler_from_outside_starts_each_run_once(machine, front, api):
    nightly = {
        "definitionId": "nightly",
        "name": "nightly",
        "publish": True,
        "root": {
            "type": "Sequence",
            "id": "all",
            "activities": [{"type": "WriteLine", "id": "line", "text": "x"}],
        },
    }
    ok(api("/elsa/api/workflow-definitions", nightly))
    service = machine.services["node-1"]
    words = [
        "staunch",
        "key",
        "create",
        "cron",
        "--permissions",
        "exec:workflow-definitions",
        "-o",
        "json",
    ]

    def run(*words):
        ran = subprocess.run(
            machine.command(service, ["staunch", *words]),
            env=machine.environment(service),
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran
        return json.loads(ran.stdout)

    key = run(*words[1:])["key"]
    assert Api(front, key)("/elsa/api/workflow-instances")[0] == 403
    once = ["run", "nightly", "--server", front, "--api-key", key, "-o", "json", "--id"]
    ids = [run(*once, name)["workflowInstanceId"] for name in ("night-1", "night-1", "night-2")]
    assert ids[0] == ids[1] != ids[2], ids
    count = lambda: ok(api("/elsa/api/workflow-instances?subStatus=Finished"))["totalCount"]
    eventually("both runs finish", lambda: count() == 2)


def everything_works(machine, front, api):
    the_cluster_works_behind_its_proxy(machine, front, api)
    users_log_in_with_the_password_that_was_made(machine, front)
    every_node_answers_health_and_metrics(machine)
    streams_have_three_copies_on_the_volumes(machine)
    the_service_cannot_change_the_schema_or_the_audit_log(machine)
    links_begin_with_the_address_of_the_proxy(api)
    if "proxy" not in machine.missing:
        check_address(front, api.key)
    prometheus_reads_every_node(machine)
    a_node_that_is_killed_is_not_missed(machine, front, api)
    a_nats_server_that_is_killed_is_not_missed(machine, api)
    sink = machine.running["collector"]
    eventually("traces reach the collector", lambda: sink.count > 0)


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="staunch-compose-"))
    folder.chmod(0o755)
    machine = Machine(folder)
    try:
        the_order_of_start_is_kept(machine)
        secrets_are_made_once(machine)
        front = "node-1" if "proxy" in machine.missing else "proxy"
        front = f"http://{machine.address[front]}:5001"
        api = Api(front, (folder / "volumes/secrets-node/api-key").read_text().strip())
        if PATTERN == "scheduler.yaml":
            timers_are_fired_by_the_scheduler_alone(machine, api)
        elif PATTERN == "external.yaml":
            a_scheduler_from_outside_starts_each_run_once(machine, front, api)
        else:
            everything_works(machine, front, api)
        machine.down()
        for name, what in machine.missing.items():
            print(f"NOT RUN: {name}: there is no {what} on this machine")
        ran = [name for name in machine.services if name not in machine.missing]
        print(f"{len(ran)} services of compose.yaml ran: {', '.join(ran)}")
    finally:
        kill(machine.running.values())
        shutil.rmtree(folder, ignore_errors=True)


main()
