"""Makes the packages of one kind from a binary, and installs them in empty folders.

Usage: packages_run.py KIND STAUNCH NATS_SERVER [UV]

With STAUNCH_PACKAGES, tries the packages of that folder, which were made from this binary.
"""

import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from packages_debian import COMPOSE, check_debian
from processes import addresses, eventually, kill, limit, spawn
from tools import program

KIND, STAUNCH, NATS_SERVER = sys.argv[1:4]
UV = sys.argv[4:]
PACKAGES = COMPOSE / "packages"
TARGET = f"{os.uname().machine}-unknown-linux-gnu"
# Every process that this script has started.
STARTED = []
limit(200)


def package(out, binary, *more, epoch="1700000000"):
    """Runs package.py for one platform, and then for what is common to all; returns what it said."""
    python = [sys.executable, "-B", PACKAGES / "package.py"]
    first = ["platform", "--target", TARGET, "--binary", binary, "--nats-server", NATS_SERVER]
    for arguments in ([*first, "--fast", *more], ["finish"]):
        ran = subprocess.run(
            [*python, *arguments, out],
            capture_output=True,
            text=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        )
        if ran.returncode != 0:
            return ran.stderr
    return ran.stdout


def the_same_input_gives_the_same_bytes(folder):
    """Whatever the times and modes of the input, and the mask of the user."""
    one, other = folder / "one", folder / "other"
    small = shutil.which("true")
    package(one, small)
    copy = folder / "true"
    shutil.copyfile(small, copy)
    os.utime(copy, (1, 1))
    before = os.umask(0o077)
    sums = package(other, copy)
    os.umask(before)
    assert len(sums.splitlines()) == 6, sums
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes(), path.name
    later = package(folder / "later", small, epoch="1800000000")
    assert later != sums, "the time of the files is not SOURCE_DATE_EPOCH"


def what_cannot_be_packaged_is_refused(folder):
    other = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
    for more, wanted in (
        (
            ["--target", "x86_64-pc-windows-msvc"],
            "x86_64-pc-windows-msvc: no packages are made for it",
        ),
        (
            ["--target", "s390x-unknown-linux-gnu"],
            "s390x-unknown-linux-gnu: no packages are made for it",
        ),
        (["--target", TARGET.replace("gnu", "musl")], "needs glibc"),
        (["--target", f"{other}-unknown-linux-gnu"], f"is not for {other}"),
        (["--binary", __file__], "readelf cannot read"),
        (["--kinds", "deb,rpm"], "rpm is none of"),
        (["--glibc-max", "2.1"], "newer than 2.1"),
    ):
        said = package(folder / "none", STAUNCH, *more)
        assert wanted in said and "Traceback" not in said, (more, said)
    assert not list((folder / "none").glob("*")), list((folder / "none").iterdir())


def made(folder, kind, *more):
    """The folder of the packages of one kind, made from the binary under test if there are none yet."""
    release = folder / "release"
    ready = os.environ.get("STAUNCH_PACKAGES")
    if ready:
        return pathlib.Path(shutil.copytree(ready, release))
    # Without what only a debugger needs.
    small = folder / "staunch"
    subprocess.run(["strip", "-o", small, STAUNCH], check=True)
    said = package(release, small, "--kinds", kind, *more)
    assert (release / "SHA256SUMS").exists(), said
    small.unlink()
    return release


def ran(command, expected=0, **how):
    """Runs a command to its end; returns all that it printed."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **how,
    )
    assert done.returncode == expected, (command, done.returncode, done.stdout)
    return done.stdout


def machine(folder, **more):
    """The variables of a user whose home is empty, and who has no nats-server."""
    paths = [
        path
        for path in os.environ["PATH"].split(":")
        if not (pathlib.Path(path) / "nats-server").exists()
    ]
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return {"PATH": ":".join(paths), "HOME": str(home), "TMPDIR": str(folder), **more}


def demo(command, environment, folder):
    """The demo works, with the nats-server of the package."""
    address = addresses(["node"])["node"]
    said = ran(
        [*command, "demo", "--exit", "--listen", f"{address}:5001"], env=environment, cwd=folder
    )
    assert "executor-2 has taken over" in said, said
    fetched = pathlib.Path(environment["HOME"]) / ".cache/staunch"
    assert not fetched.exists(), f"the demo fetched a nats-server: {said}"


def fake(folder, name, script):
    """A folder for the front of the PATH, with a program of this name."""
    path = folder / f"fake-{name}-{len(list(folder.glob('fake-*')))}"
    path.mkdir()
    (path / name).write_text(f"#!/bin/sh\n{script}\n")
    (path / name).chmod(0o755)
    return f"{path}:{os.environ['PATH']}"


def check_archive(folder):
    """install.sh, by a POSIX shell."""
    shell = program("dash", "dash")
    program("curl", "curl")
    what_cannot_be_packaged_is_refused(folder)
    the_same_input_gives_the_same_bytes(folder)
    release = made(folder, "archive")
    sums = (release / "SHA256SUMS").read_text()
    version = ran([STAUNCH, "--version"]).split()[1]
    name = f"staunch-{version}-{TARGET}"
    assert f"  {name}.tar.gz\n" in sums and "  install.sh\n" in sums, sums
    ran(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=release)
    inside = ran(["tar", "-tzf", release / f"{name}.tar.gz"]).splitlines()
    for path in (
        "staunch",
        "LICENSE",
        "README.md",
        "systemd/staunch.service",
        "systemd/staunch.toml",
    ):
        assert f"{name}/{path}" in inside, inside
    third = ran(["tar", "-xzOf", release / f"{name}.tar.gz", f"{name}/THIRD-PARTY.txt"])
    assert "\ntokio 1." in third and "Permission is hereby granted" in third
    assert ": quickjs\n" in third, "the licence of a library in C is missing"

    environment = machine(folder)
    place = pathlib.Path(environment["HOME"]) / ".local/bin/staunch"

    def install(*arguments, expected=0, script=release / "install.sh", **variables):
        command = [shell, script, *arguments]
        return ran(command, expected, env={**environment, **variables}, cwd=folder)

    def refused(wanted, *arguments, **how):
        before = place.stat().st_mtime_ns
        said = install(*arguments, expected=1, **how)
        assert wanted in said, said
        assert place.stat().st_mtime_ns == before and len(list(place.parent.iterdir())) == 1

    said = install("--from", release)
    assert str(place) in said and "is not on the PATH" in said, said
    assert ran([place, "--version"]) == f"staunch {version}\n"
    handler = functools.partial(Quiet, directory=release)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        said = install(
            "--from",
            url,
            "--prefix",
            folder / "other",
            PATH=f"{folder}/other/bin:{environment['PATH']}",
        )
        assert (
            "not on the PATH" not in said
            and (folder / "other/bin/staunch").stat().st_mode & 0o777 == 0o755
        )
        # While it runs, it is replaced.
        running = spawn(
            [folder / "other/bin/staunch", "dev", "--listen", "127.0.0.1:1"],
            subprocess.DEVNULL,
            cwd=folder,
        )
        install("--from", url, "--prefix", folder / "other")
        kill([running])
        refused(f"cannot download {url}/none/SHA256SUMS", "--from", f"{url}/none")
        server.shutdown()

    a_script_of_a_release_installs_any_version(folder, release, version, install, refused)
    refused("from where?", "--from", "")
    refused("unknown argument --form", "--form", release)
    refused("--from needs a value", "--from")
    refused("give an absolute path", "--from", release, "--prefix", "here")
    what_a_folder_stands_in_the_way_of_is_refused(folder, release, refused)
    refused("HOME is not set: give --prefix", "--from", release, HOME="")
    assert "(must be given: HOME is not set)" in install("--help", HOME="")
    refused(f"no archive of staunch 9.9.9 for {TARGET}", "--from", release, "--version", "9.9.9")
    refused(f"{folder}/nowhere has no SHA256SUMS", "--from", folder / "nowhere")
    for answers, wanted in (
        ({"-s": "SunOS", "-m": "i86pc"}, "there is no archive for SunOS on i86pc"),
        ({"-s": "Linux", "-m": "riscv64"}, "there is no archive for Linux on riscv64"),
    ):
        lines = [f'[ "$1" != {flag} ] || echo {answer}' for flag, answer in answers.items()]
        refused(wanted, "--from", release, PATH=fake(folder, "uname", "\n".join(lines)))
    old = fake(folder, "getconf", "echo glibc 2.12")
    refused("glibc is 2.12; 2.17 or newer is needed", "--from", release, PATH=old)
    musl = fake(folder, "getconf", "exit 1")
    wanted = f"no archive of staunch 9.9.9 for {TARGET.replace('gnu', 'musl')}"
    refused(wanted, "--from", release, "--version", "9.9.9", PATH=musl)

    broken = folder / "broken"
    package(broken, shutil.which("false"), "--kinds", "archive")
    refused("does not run on this machine: not installed", "--from", broken)
    with open(broken / f"{name}.tar.gz", "ab") as file:
        file.write(b"x")
    refused("not installed", "--from", broken)
    refused("has the SHA-256", "--from", broken)
    print("install.sh installs, and refuses what is wrong")


def what_a_folder_stands_in_the_way_of_is_refused(folder, release, refused):
    """A folder, or a link to one, at the place of the program gets nothing put into it."""
    (folder / "empty").mkdir()
    for at, name in enumerate(("staunch", ".staunch.new", "link")):
        prefix = folder / f"taken-{at}"
        taken = prefix / "bin" / name.replace("link", "staunch")
        taken.parent.mkdir(parents=True)
        if name == "link":
            taken.symlink_to(folder / "empty")
        else:
            taken.mkdir()
        wanted = f"{taken} is a folder, and the program cannot take its place: move it away"
        refused(wanted, "--from", release, "--prefix", prefix)
        assert not list(taken.iterdir()) and len(list(taken.parent.iterdir())) == 1, name


def a_script_of_a_release_installs_any_version(folder, release, version, install, refused):
    """It knows where the releases are, and each version has a folder there."""
    published = folder / "published"
    own = published / f"releases/download/v{version}"
    shutil.copytree(release, own)
    handler = functools.partial(Quiet, directory=published)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        ran([sys.executable, "-B", PACKAGES / "package.py", "finish", "--repository", url, own])
        script = own / "install.sh"
        assert f"({url}/releases/download/v{version})" in install("--help", script=script)
        said = install("--prefix", folder / "third", script=script)
        assert ran([folder / "third/bin/staunch", "--version"]) == f"staunch {version}\n", said
        other = f"cannot download {url}/releases/download/v9.9.9/SHA256SUMS"
        refused(other, "--version", "9.9.9", script=script)
        refused("from where?", "--from", "", script=script)
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_npm(folder):
    """The wrapper and the package of the platform, without a registry."""
    npm, node = program("npm", "npm"), program("node", "npm")
    release, project = made(folder, "npm"), folder / "project"
    project.mkdir()
    (project / "package.json").write_text('{"private": true}\n')
    environment = machine(folder)
    cpu = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
    version = ran([STAUNCH, "--version"])
    names = [
        f"staunch-linux-{cpu}-gnu-{version.split()[1]}.tgz",
        f"staunch-{version.split()[1]}.tgz",
    ]
    packed = [release / name for name in names]
    install = [npm, "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", *packed]
    ran(install, env=environment, cwd=project)
    npx = ["npx", "--offline", "staunch"]
    assert ran([*npx, "--version"], env=environment, cwd=project) == version
    the_licences_of_nats_server_are_there(project)
    # The exit code is the program's own.
    ran([*npx, "no-such-command"], 2, env=environment, cwd=project)
    demo(npx, environment, project)

    wrapper = project / "node_modules/staunch/staunch.js"
    a_signal_reaches_the_program(node, wrapper, folder, environment)
    for changed, wanted in (
        ("platform: {value: 'darwin'}", "there is no @staunch/darwin-"),
        ("arch: {value: 'riscv64'}", "there is no @staunch/linux-riscv64-"),
    ):
        script = (
            f"Object.defineProperties(process, {{{changed}}}); require({json.dumps(str(wrapper))})"
        )
        said = ran([node, "-e", script], 1, env=environment)
        assert wanted in said and "there are: @staunch/linux-" in said, said
    shutil.rmtree(project / "node_modules/@staunch")
    said = ran([*npx, "--version"], 1, env=environment, cwd=project)
    assert "is not installed; install again without --omit=optional" in said, said
    print("npx runs the packages of npm")


def the_licences_of_nats_server_are_there(project):
    """Those of every module that the program names, if it is of the version that has been looked at."""
    (third,) = project.glob("node_modules/@staunch/*/THIRD-PARTY.txt")
    texts = third.read_text()
    modules = re.findall(
        rb"(?:mod|dep)\t([^\t\n]+)\t(v[^\t\n]+)", pathlib.Path(NATS_SERVER).read_bytes()
    )
    names = [b" ".join(module).decode() for module in modules]
    own = [name.split(" v")[1] for name in names if "/nats-server/" in name]
    assert "\nnats-server " in texts
    # The one of this machine may be another than the packages of a release carry.
    if own and f"\nnats-server {own[0]}," in texts:
        missing = [name for name in names if name not in texts]
        assert not missing, f"compose/packages/nats-server.txt has no {missing}"


def a_signal_reaches_the_program(node, wrapper, folder, environment):
    """The program stops in order, and the wrapper says how."""
    address = addresses(["node"])["node"]
    log = folder / "dev.log"
    command = [node, wrapper, "dev", "--listen", f"{address}:5001"]
    process = spawn(command, open(log, "wb"), env=environment, cwd=folder)
    STARTED.append(process)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    eventually("the node is up", lambda: f"http://{address}:5001" in log.read_text())
    (child,) = children.read_text().split()
    process.terminate()
    assert process.wait(timeout=60) == 0, log.read_text()
    assert not pathlib.Path(f"/proc/{child}").exists(), "the program lives on"


def check_wheel(folder):
    """The wheel by pip, and by uv, without a registry."""
    (wheel,) = made(folder, "wheel").glob(f"*manylinux*_{os.uname().machine}.whl")
    environment = machine(folder)
    ran([sys.executable, "-m", "venv", folder / "venv"])
    pip = [
        folder / "venv/bin/python",
        "-m",
        "pip",
        "install",
        "--no-index",
        "--disable-pip-version-check",
    ]
    ran([*pip, wheel], env=environment)
    version = ran([STAUNCH, "--version"])
    assert ran([folder / "venv/bin/staunch", "--version"], env=environment) == version
    carried = folder / "venv/lib/staunch/nats-server"
    assert carried.read_bytes() == pathlib.Path(NATS_SERVER).read_bytes() and os.access(
        carried, os.X_OK
    )
    shown = ran([*pip[:3], "show", "--files", "staunch-workflows"], env=environment)
    for path in ("bin/staunch", "staunch/nats-server", "licenses/THIRD-PARTY.txt"):
        assert path in shown, shown
    uvx = [UV[0], "tool", "run", "--offline", "--no-config", "--from", wheel, "staunch"]
    demo(uvx, environment, folder)
    print("uvx runs the wheel")


folder = pathlib.Path(tempfile.mkdtemp(prefix="staunch-packages-"))
try:
    if KIND == "deb":
        check_debian(folder, made, ran)
    else:
        {"archive": check_archive, "npm": check_npm, "wheel": check_wheel}[KIND](folder)
finally:
    kill(STARTED)
    shutil.rmtree(folder, ignore_errors=True)
