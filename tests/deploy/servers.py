"""A NATS server and a PostgreSQL on addresses of their own, for one test."""

import os
import shutil
import subprocess

from processes import eventually, spawn


def start_nats(nats_server, folder, address):
    """A server with JetStream, on the usual port."""
    server = [nats_server, "-a", address, "-p", "4222", "-js", "-sd", str(folder / "nats")]
    return spawn(server, open(folder / "nats.log", "ab"))


def start_postgres(programs, folder, address):
    """A server without passwords, on the usual port; returns it and the URL of its database."""
    data = folder / "data"
    data.mkdir()
    # PostgreSQL does not run as root.
    user = {}
    if os.getuid() == 0:
        user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(data, "postgres", "postgres")
    initdb = [programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync"]
    subprocess.run(initdb, check=True, capture_output=True, cwd="/", **user)
    (data / "pg_hba.conf").write_text("host all all all trust\n")
    where = ["-c", f"listen_addresses={address}", "-c", "fsync=off", "-k", ""]
    log = open(folder / "postgres.log", "ab")
    server = spawn([programs / "postgres", "-D", data, *where], log, cwd="/", **user)
    ready = [programs / "pg_isready", "-U", "postgres", "-h", address]
    eventually("PostgreSQL", lambda: subprocess.run(ready, capture_output=True).returncode == 0)
    return server, f"postgres://postgres@{address}/postgres"
