"""Tools that may be missing, and modules of Go that have schemas."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

NEEDED = ["initdb", "postgres", "pg_ctl", "pg_isready", "createdb", "psql"]


def skip(tool, why):
    """Ends the script; the test is skipped, or fails where the tool is required."""
    print(f"SKIP {tool}: {why}")
    sys.exit(77)


def postgresql():
    """The folder of PostgreSQL's programs: on the PATH, or the newest that is installed."""
    installed = pathlib.Path("/usr/lib/postgresql").glob("*/bin")
    newest = sorted(installed, key=lambda path: -int(path.parent.name))
    for folder in [*map(pathlib.Path, os.environ["PATH"].split(":")), *newest]:
        if all((folder / name).is_file() for name in NEEDED):
            return folder
    skip("pg", "no initdb found; apt install postgresql")


def program(name, group):
    """A program on the PATH, or among those that `go install` has made."""
    path = (
        f"{os.environ['PATH']}:{os.environ.get('GOBIN', '')}:{pathlib.Path.home()}/go/bin:/usr/sbin"
    )
    found = shutil.which(name, path=path)
    return found or skip(group, f"there is no {name}")


def go_module(module, version, group):
    """The folder of a module of Go, downloaded if it is not there."""
    if not shutil.which("go"):
        skip(group, "there is no go, which downloads schemas")
    ran = subprocess.run(
        ["go", "mod", "download", "-json", f"{module}@{version}"],
        capture_output=True,
        text=True,
        cwd="/",
    )
    said = json.loads(ran.stdout or "{}")
    if not said.get("Dir"):
        skip(group, f"go cannot download {module}: {said.get('Error', ran.stderr).strip()}")
    return pathlib.Path(said["Dir"])
