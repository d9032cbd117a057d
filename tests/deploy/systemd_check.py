"""Checks the units of compose/systemd, and runs the node as systemd would: with a socket that stays
open over a restart, with notifications, and with a watchdog.

Usage: systemd_check.py STAUNCH NATS_SERVER
"""

import configparser
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

from compose_file import COMPOSE
from processes import addresses, eventually, kill, limit, spawn
from servers import start_nats
from tools import program

STAUNCH, NATS_SERVER = sys.argv[1:3]
UNITS = COMPOSE / "systemd"
# The exposure that `systemd-analyze security` finds, of 100 at most.
EXPOSURE_MAX = "15"
# Every process that this script has started.
STARTED = []
limit(200)


def unit(name):
    """A unit file; keys that are repeated have all their values."""

    class Values(dict):
        def __setitem__(self, key, value):
            if isinstance(value, list) and isinstance(self.get(key), list):
                self[key].extend(value)
            else:
                super().__setitem__(key, value)

    reader = configparser.RawConfigParser(dict_type=Values, strict=False, delimiters=("=",))
    reader.optionxform = str
    reader.read_string((UNITS / name).read_text())
    lists = {section: {} for section in reader.sections()}
    for section in reader.sections():
        for key, value in reader.items(section):
            lists[section][key] = [line for line in value.split("\n") if line]
    return lists


def check_units(analyze):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for path in sorted(UNITS.glob("*.s*")):
            copy = pathlib.Path(folder) / path.name
            copy.write_text(path.read_text().replace("/usr/bin/staunch", STAUNCH))
            paths.append(str(copy))
        verified = subprocess.run([analyze, "verify", *paths], capture_output=True, text=True)
        said = verified.stdout + verified.stderr
        assert verified.returncode == 0 and not said.strip(), said
        for path in paths:
            if path.endswith(".service"):
                security = [
                    analyze,
                    "security",
                    "--offline=true",
                    f"--threshold={EXPOSURE_MAX}",
                    path,
                ]
                ran = subprocess.run(security, capture_output=True, text=True)
                print(ran.stdout.strip().splitlines()[-1])
                assert ran.returncode == 0, ran.stdout
    print(f"{len(paths)} units are valid")


class Node:
    """The node of staunch.service, started as systemd starts it."""

    def __init__(self, folder):
        self.folder = folder
        self.address = addresses(["node", "nats"])
        service, port = unit("staunch.service"), unit("staunch.socket")
        self.command = service["Service"]["ExecStart"][0].split()
        assert self.command[0] == "/usr/bin/staunch" and service["Service"]["Type"] == ["notify"]
        self.variables = dict(entry.split("=", 1) for entry in service["Service"]["Environment"])
        listen = port["Socket"]["ListenStream"][0]
        assert listen == self.variables["STAUNCH_LISTEN"], "the two units name different addresses"
        grace = int(service["Service"]["TimeoutStopSec"][0])
        assert grace > 30, "shorter than the drain"
        host, number = listen.split(":")
        self.socket = socket.create_server((self.translated(host), int(number)), backlog=128)
        self.told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.told.bind(str(folder / "notify"))
        self.told.settimeout(60)
        # The settings of the example, with a broker and a database that are here.
        text = (UNITS / "staunch.toml").read_text()
        text = re.sub(r"nats-url = .*", f'nats-url = "nats://{self.address["nats"]}:4222"', text)
        text = re.sub(
            r"database-url = .*", f'database-url = "sqlite://{folder}/node.db?mode=rwc"', text
        )
        text = text.replace('"KEY"', '"a-key-of-this-test-0123456789abcdef"')
        (folder / "staunch.toml").write_text(text)

    def translated(self, text):
        return text.replace("127.0.0.1", self.address["node"]).replace("%d", str(self.folder))

    def environment(self):
        values = {key: self.translated(value) for key, value in self.variables.items()}
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **values}

    def start(self, passed=None, role="all"):
        """With this socket as descriptor 3, and the process's own id in LISTEN_PID."""
        assert self.command[-2:] == ["--role", "all"], self.command
        number = (passed or self.socket).fileno()
        # The shell moves the socket to descriptor 3 and becomes the node.
        move = "" if number == 3 else f"exec 3<&{number} {number}<&-; "
        script = f'{move}export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@"'
        own = {"NOTIFY_SOCKET": str(self.folder / "notify"), "WATCHDOG_USEC": "1000000"}
        process = spawn(
            ["/bin/sh", "-c", script, "node", STAUNCH, *self.command[1:-1], role],
            open(self.folder / "node.log", "ab"),
            env={**self.environment(), **own},
            pass_fds=[number],
        )
        STARTED.append(process)
        return process

    def hears(self, wanted):
        while True:
            if wanted in self.told.recv(4096).decode().splitlines():
                return


def no_connection_is_refused_over_a_restart(node):
    process = node.start()
    node.hears("READY=1")
    node.hears("WATCHDOG=1")
    answered, refused, broken, stop = [], [], [], threading.Event()

    def call():
        while not stop.is_set():
            try:
                with urllib.request.urlopen(f"{url}/health/live", timeout=60) as answer:
                    answered.append(answer.status)
            except (urllib.error.URLError, OSError) as error:
                reason = getattr(error, "reason", error)
                (refused if isinstance(reason, ConnectionRefusedError) else broken).append(
                    str(error)
                )

    url = f"http://{node.translated(node.variables['STAUNCH_LISTEN'])}"
    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    eventually("requests are answered", lambda: len(answered) > 50)
    for _ in range(2):
        before = len(answered)
        process.send_signal(signal.SIGTERM)
        node.hears("STOPPING=1")
        # Before the end of --drain-delay, in which it still takes connections.
        assert readiness(url) == 503
        assert process.wait(timeout=60) == 0
        process = node.start()
        node.hears("READY=1")
        eventually("requests are answered", lambda: len(answered) > before + 50)
    stop.set()
    for caller in callers:
        caller.join()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    print(
        f"two restarts: {len(answered)} requests answered, {len(refused)} refused, {len(broken)} broken off"
    )
    assert not refused, refused
    # The node closes what it has accepted in the moment in which it stops, before a request came.
    assert len(broken) <= 8, broken


def readiness(url):
    try:
        return urllib.request.urlopen(f"{url}/health/ready", timeout=60).status
    except urllib.error.HTTPError as error:
        return error.code


def a_socket_that_nobody_answers_is_refused(node):
    process = node.start(role="timer")
    service = unit("staunch.service")["Service"]
    assert str(process.wait(timeout=60)) in service["RestartPreventExitStatus"], "it starts again"
    log = (node.folder / "node.log").read_text()
    assert log.count("this node has no role that answers there") == 1, log[-2000:]


def a_socket_with_another_address_is_refused(node):
    other = socket.create_server((node.address["node"], 0))
    process = node.start(other)
    # A setting is wrong: RestartPreventExitStatus= keeps systemd from starting it again.
    service = unit("staunch.service")["Service"]
    assert str(process.wait(timeout=60)) in service["RestartPreventExitStatus"], "it starts again"
    log = (node.folder / "node.log").read_text()
    assert log.count("write the same address in ListenStream= and --listen") == 1, log[-2000:]
    assert "another server" not in log, log[-2000:]


check_units(program("systemd-analyze", "systemd"))
folder = pathlib.Path(tempfile.mkdtemp(prefix="staunch-systemd-"))
node = Node(folder)
try:
    STARTED.append(start_nats(NATS_SERVER, folder, node.address["nats"]))
    setup = unit("staunch-setup.service")["Service"]["ExecStart"]
    for line in setup:
        run = (
            lambda: subprocess.run(
                [STAUNCH, *line.split()[1:]], env=node.environment(), capture_output=True
            ).returncode
            == 0
        )
        eventually(line, run, 30)
    no_connection_is_refused_over_a_restart(node)
    a_socket_with_another_address_is_refused(node)
    a_socket_that_nobody_answers_is_refused(node)
except BaseException:
    log = folder / "node.log"
    print(log.read_text()[-3000:] if log.exists() else "no log")
    raise
finally:
    kill(STARTED)
    shutil.rmtree(folder, ignore_errors=True)
