"""What compose.yaml says, as the two programs of this folder read it: variables filled in, short
forms of volumes and ports taken apart."""

import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "compose"


def fill(text, environment):
    """Replaces ${NAME:-default} and ${NAME:?reason} as compose does."""

    def value(found):
        name, operator, rest = found.group(1), found.group(2), found.group(3)
        if environment.get(name):
            return environment[name]
        if operator == ":?":
            raise ValueError(f"{name} must be set: {rest}")
        return rest or ""

    return re.sub(r"\$\{([A-Z_]+)(?:(:-|:\?)([^}]*))?\}", value, text)


def merged(under, over):
    """A mapping with the members of a second one, as compose puts files together."""
    if not isinstance(under, dict) or not isinstance(over, dict):
        return over
    return {**under, **{key: merged(under.get(key), value) for key, value in over.items()}}


def load(pattern=None):
    """The file as compose understands it, without variables of the caller; with a second file from
    the folder `patterns` if one is named."""
    document = yaml.safe_load(fill((COMPOSE / "compose.yaml").read_text(), {}))
    if pattern:
        document = merged(document, yaml.safe_load((COMPOSE / "patterns" / pattern).read_text()))
    return document


class Service:
    """One service: its command line, its environment and its files."""

    def __init__(self, name, given):
        self.name, self.given = name, given
        self.image = given["image"]
        self.environment = {key: str(value) for key, value in given.get("environment", {}).items()}
        self.tmpfs = [entry.split(":")[0] for entry in given.get("tmpfs", [])]
        # Pairs of a source and a target: a file or folder of this repository, or a named volume.
        self.files, self.volumes = {}, {}
        for entry in given.get("volumes", []):
            source, target = entry.split(":")[:2]
            if source.startswith("."):
                self.files[target] = (COMPOSE / source).resolve()
            else:
                self.volumes[target] = source

    @property
    def is_staunch(self):
        return "build" in self.given

    @property
    def command(self):
        """Its whole command line; the entry point of the images is known."""
        entry = self.given.get("entrypoint")
        if entry is None:
            entry = ["staunch"] if self.is_staunch else []
        return entry + self.given.get("command", [])

    @property
    def conditions(self):
        return {name: how["condition"] for name, how in self.given.get("depends_on", {}).items()}


def services(document):
    return {name: Service(name, given) for name, given in document["services"].items()}
