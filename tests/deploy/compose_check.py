"""Checks compose/ without a container engine.

The file against the schema of compose, every flag, variable and setting against the binary, every
mounted file, and the rules that compose.yaml promises in its first lines.

Usage: compose_check.py STAUNCH
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
import yaml

from compose_file import COMPOSE, ROOT, load, services
from tools import go_module

complaints = []


def complain(text):
    complaints.append(text)


def staunch(*arguments):
    """What the binary says on standard output; an error of the command line is not there."""
    return subprocess.run([STAUNCH, *arguments], capture_output=True, text=True).stdout


def check_schema(document):
    module = go_module("github.com/compose-spec/compose-go/v2", "v2.16.2", "helm")
    schema = json.loads((module / "schema/compose-spec.json").read_text())
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    for error in validator(schema).iter_errors(document):
        complain(f"compose.yaml: {'/'.join(map(str, error.absolute_path))}: {error.message}")


def check_settings(name, environment, settings):
    for variable in environment:
        if not variable.startswith("STAUNCH_"):
            complain(f"{name}: {variable} is no variable of Staunch")
        elif variable != "STAUNCH_CONFIG":
            setting = variable.removeprefix("STAUNCH_").lower().replace("_", "-")
            if setting not in settings:
                complain(f"{name}: there is no setting {setting} ({variable})")


def check_staunch(service, settings):
    command = service.command
    if command[0] == "staunch":
        # Help is asked for with all arguments, so that the parser reads each of them.
        said = staunch(*command[1:], "--help")
        if "Usage: staunch " + command[1] not in said:
            complain(f"{service.name}: the binary refuses {' '.join(command)}")
        for flag in [word for word in command if word.startswith("--")]:
            if flag.split("=")[0] not in said:
                complain(f"{service.name}: `staunch {command[1]}` knows no {flag}")
        check_settings(service.name, service.environment, settings)
    if command[1:2] == ["server"]:
        roles = command[command.index("--role") + 1] if "--role" in command else "all"
        known = {"all", "ingress", "executor", "timer", "cache-notifier"}
        if not set(roles.split(",")) <= known:
            complain(f"{service.name}: there are no roles {roles}")
        if "STAUNCH_ADMIN_LISTEN" not in service.environment:
            complain(f"{service.name} has the roles {roles}, and no STAUNCH_ADMIN_LISTEN")
        if "healthcheck" not in service.given:
            complain(f"{service.name} has no health check")
        drain = 30
        grace = int(service.given.get("stop_grace_period", "10s").removesuffix("s"))
        if grace <= drain:
            complain(f"{service.name}: a grace of {grace} s is shorter than the drain")


def check_health(service):
    test = service.given.get("healthcheck", {}).get("test")
    if test is None:
        return
    if test[0] != "CMD" or "sh" in test[1:2]:
        complain(f"{service.name}: the health check uses a shell")
    if test[1] == "staunch" and "Usage: staunch " + test[2] not in staunch(*test[2:], "--help"):
        complain(f"{service.name}: {' '.join(test)} is no command")


def check_restrictions(service):
    given = service.given
    if not given.get("read_only"):
        complain(f"{service.name} may write to its own files")
    if given.get("cap_drop") != ["ALL"]:
        complain(f"{service.name} keeps capabilities")
    if "no-new-privileges:true" not in given.get("security_opt", []):
        complain(f"{service.name} may gain privileges")
    user = str(given.get("user", ""))
    if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", user):
        complain(f"{service.name} runs as {user or 'the user of its image'}: give numbers, not 0")
    if given.get("privileged") or given.get("network_mode") == "host":
        complain(f"{service.name} has rights over the machine")
    for port in given.get("ports", []):
        if not port.startswith("127.0.0.1:"):
            complain(f"{service.name}: {port} is open to the network")
    for key, value in service.environment.items():
        if re.search(r"PASSWORD|SECRET|TOKEN|API_KEY$", key) and not key.endswith("FILE"):
            complain(f"{service.name}: {key} has its value in the file")


def check_images(all_services):
    for service in all_services.values():
        image = service.image
        if service.is_staunch:
            build = service.given["build"]
            context = (COMPOSE / build["context"]).resolve()
            if context != ROOT or not (context / build["dockerfile"]).is_file():
                complain(f"{service.name}: there is no {build['dockerfile']} in {context}")
        elif not re.fullmatch(r"([a-z]+/)?[a-z-]+:v?\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?", image):
            complain(f"{service.name}: {image} names a host, or no fixed version")
    for line in (COMPOSE / "Dockerfile").read_text().splitlines():
        if line.startswith("FROM"):
            image = line.split()[1]
            if not re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z-]+", image):
                complain(f"Dockerfile: {image} names a host, or no fixed version")
    docker = (COMPOSE / "Dockerfile").read_text()
    for needed in ["ca-certificates", "USER 10001:10001", "debian:"]:
        if needed not in docker:
            complain(f"Dockerfile has no {needed}")
    # Cargo needs every member of the workspace, and what the sources include.
    kept = set(re.findall(r"^!(\S+)", (COMPOSE / "Dockerfile.dockerignore").read_text(), re.M))
    members = re.findall(r'^    "([a-z]+)/', (ROOT / "Cargo.toml").read_text(), re.M)
    for folder in {*members, "Cargo.toml", "Cargo.lock", "nats"} - kept:
        complain(f"Dockerfile.dockerignore leaves out {folder}")


def check_mounts(document, all_services):
    used = set()
    for service in all_services.values():
        for target, path in service.files.items():
            if not path.exists():
                complain(f"{service.name}: there is no {path}")
        used.update(service.volumes.values())
        for entry in service.given.get("volumes", []):
            is_file = entry.startswith(".")
            if (
                (is_file or "secrets-" in entry)
                and service.name != "init"
                and not entry.endswith(":ro")
            ):
                complain(f"{service.name}: {entry} may be written to")
        secrets = [volume for volume in service.volumes.values() if volume.startswith("secrets-")]
        if service.name != "init" and len(secrets) > 1:
            complain(f"{service.name} sees the secrets of others: {secrets}")
    for volume in used ^ set(document["volumes"]):
        complain(f"the volume {volume} is used and not declared, or the other way round")
    # Where volumes are first mounted, the image has a folder of the right owner.
    docker = (COMPOSE / "Dockerfile").read_text()
    for target in all_services["init"].volumes:
        if not re.search(rf"{re.escape(target)}\b", docker):
            complain(f"Dockerfile makes no folder {target}, so its volume would belong to root")
    for name in ["nats-1", "nats-2", "nats-3"]:
        service = all_services[name]
        store = re.search(
            r'store_dir: "([^"]+)"', service.files["/etc/nats/server.conf"].read_text()
        )
        if store.group(1) not in service.volumes:
            complain(f"{name} keeps its data in {store.group(1)}, which is no volume of it")


def check_configuration():
    for path in COMPOSE.rglob("*.y*ml"):
        if "templates" not in path.parts:
            try:
                list(yaml.safe_load_all(path.read_text()))
            except yaml.YAMLError as error:
                complain(f"{path.relative_to(ROOT)}: {error}")
    scrape = yaml.safe_load((COMPOSE / "prometheus/prometheus.yaml").read_text())
    targets = scrape["scrape_configs"][0]["static_configs"][0]["targets"]
    nodes = [name for name in SERVICES if name.startswith("node-")]
    if targets != [f"{name}:5002" for name in nodes]:
        complain(f"Prometheus reads {targets}, and the nodes are {nodes}")
    upstreams = re.search(r"reverse_proxy (.*) \{", (COMPOSE / "Caddyfile").read_text()).group(1)
    if upstreams.split() != [f"{name}:5001" for name in nodes]:
        complain(f"the proxy passes requests to {upstreams}, and the nodes are {nodes}")
    for path in (COMPOSE / "grafana/dashboards").glob("*.json"):
        json.loads(path.read_text())


def check_links(init):
    """The links of the alerts, with addresses in which the shell or sed could read something else."""
    for url, link in (
        ("http://localhost:5001", "http://localhost:5001/docs/book/alerts"),
        ("https://flows.example.com//", "https://flows.example.com/docs/book/alerts"),
        ("https://a.example/x&y|z/", "https://a.example/x&y|z/docs/book/alerts"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            for place in init.volumes:
                pathlib.Path(folder, place.lstrip("/")).mkdir(parents=True)
            script = init.files["/init.sh"].read_text().replace("/secrets/", f"{folder}/secrets/")
            script = script.replace(" /alerts.yaml", f" {init.files['/alerts.yaml']}")
            environment = {**os.environ, **init.environment, "RUNBOOKS_URL": url}
            shell = ["/bin/sh", "-c", script]
            subprocess.run(shell, env=environment, check=True, capture_output=True)
            alerts = pathlib.Path(folder, "secrets/prometheus/alerts.yaml").read_text()
        links = set(re.findall(r'runbook_url: "(.*)#', alerts))
        if links != {link}:
            complain(f"init.sh: with STAUNCH_URL={url} the alerts lead to {sorted(links)[:2]}")


STAUNCH = sys.argv[1]
DOCUMENT = load()
SERVICES = services(DOCUMENT)
PATTERNS = {path.name: load(path.name) for path in (COMPOSE / "patterns").glob("*.yaml")}
known = {one["name"] for one in json.loads(staunch("config", "--output", "json").strip())}
for one in SERVICES.values():
    check_restrictions(one)
    check_health(one)
    if one.is_staunch:
        check_staunch(one, known)
    for other, condition in one.conditions.items():
        needs_check = condition == "service_healthy"
        if other not in SERVICES or (needs_check and "healthcheck" not in SERVICES[other].given):
            complain(f"{one.name} waits for {other}, which has no health check or does not exist")
for document in PATTERNS.values():
    for one in services(document).values():
        if one.is_staunch:
            check_staunch(one, known)
    if set(document["services"]) != set(SERVICES):
        complain("a pattern names a service that is not in compose.yaml")
check_images(SERVICES)
check_mounts(DOCUMENT, SERVICES)
check_configuration()
check_links(SERVICES["init"])
if not complaints:
    for document in (DOCUMENT, *PATTERNS.values()):
        check_schema(document)
for complaint in complaints:
    print(complaint)
print(f"{len(SERVICES)} services, {len(complaints)} complaints")
sys.exit(bool(complaints))
