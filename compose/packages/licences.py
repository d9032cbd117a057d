"""The licence texts of every crate that the program contains, and of the nats-server beside it."""

import functools
import json
import pathlib
import subprocess

NAMES = ("licen", "copying", "notice", "copyright", "unlicense")
PROGRAM = "staunch"
# Of the version that the product downloads; package.py compares.
NATS_SERVER = pathlib.Path(__file__).parent / "nats-server.txt"


@functools.cache
def texts(root, target):
    """Each text once, with the crates that have it; then the crates that bring no text."""
    crates_of, without = {}, []
    for package in crates(root, target):
        name = f"{package['name']} {package['version']} ({package['license'] or 'see the text'})"
        found = files(package)
        for text in found:
            crates_of.setdefault(text, []).append(name)
        for place, text in below(package):
            crates_of.setdefault(text, []).append(f"{name}: {place}")
        if not found:
            without.append(name)
    parts = ["What the program staunch contains of others, with their licences.\n"]
    for text, names in sorted(crates_of.items(), key=lambda item: item[1]):
        parts.append("\n".join(names) + f"\n\n{text}\n")
    parts.append(
        "Without a file of their own, under the licence that they declare:\n\n"
        + "\n".join(without)
        + "\n"
    )
    parts.append(NATS_SERVER.read_text())
    return ("\n" + "=" * 80 + "\n\n").join(parts)


def crates(root, target):
    """The crates of others that are compiled into the program, or run in its build."""
    ran = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={target}"],
        cwd=root,
        check=True,
        stdout=subprocess.PIPE,
    )
    data = json.loads(ran.stdout)
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    waiting = [one for one in data["workspace_members"] if packages[one]["name"] == PROGRAM]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            if kinds != {"dev"} and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    found = [packages[one] for one in seen if packages[one]["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def files(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    named = sorted(path for path in folder.iterdir() if path.name.lower().startswith(NAMES))
    found = [path for path in named if path.is_file()]
    return [path.read_text(errors="replace").strip() for path in found]


def below(package):
    """Those of what a crate contains of others, such as a library in C, with its folder. A COPYING there
    is the other choice beside a LICENSE."""
    folder = pathlib.Path(package["manifest_path"]).parent
    for path in sorted(folder.rglob("*")):
        place = path.parent.relative_to(folder)
        is_named = path.name.lower().startswith(("licen", "notice")) and path.is_file()
        is_text = path.suffix in ("", ".md", ".txt")
        is_hidden = any(part.startswith(".") for part in place.parts)
        if place.parts and is_named and is_text and not is_hidden:
            yield place.as_posix(), path.read_text(errors="replace").strip()
