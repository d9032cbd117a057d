"""Runs what the Helm chart renders, as processes on loopback: the jobs, a Deployment for each role,
a CronJob, and the pod of `helm test`.

A pod has a loopback address of its own. Arguments, environment, probes, ports and times are those of
the manifests; secrets and the names of Services are looked up as a cluster would.

Usage: chart_run.py STAUNCH NATS_SERVER
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

from compose_file import COMPOSE
from processes import Api, ORDER, addresses, eventually, kill, limit, link, ok, spawn
from servers import start_nats, start_postgres
from tools import postgresql, program

STAUNCH, NATS_SERVER = sys.argv[1:3]
INSTANCES = 20
KEY = "a-key-of-this-test-0123456789abcdef"
VALUES = """
topology: roles
nats: { urlSecret: { name: staunch, key: nats-url }, copies: 1 }
database: { ownerUrlSecret: { name: owner, key: database-url } }
secretsKeySecret: { name: staunch, key: secrets-key }
settings: { max-backlog: 1000000 }
extraEnv:
  - { name: MAIL_PASSWORD, valueFrom: { secretKeyRef: { name: mail, key: password } } }
  - { name: STAUNCH_SMTP_URL, value: "smtp://staunch:$(MAIL_PASSWORD)@mail.example:587" }
ingress: { enabled: true, host: example.com, path: /flows, tlsSecret: tls }
drainSeconds: 10
workloads:
  ingress: { replicas: 1 }
  executor: { replicas: 2 }
  timer: { replicas: 1 }
  cache-notifier: { replicas: 1 }
cronJobs:
  nightly:
    schedule: "0 2 * * *"
    definition: nightly
    input: { Kind: "daily \\"full\\"" }
    keySecret: { name: cron, key: api-key }
"""
NIGHTLY = {
    "definitionId": "nightly",
    "name": "nightly",
    "publish": True,
    "root": {
        "type": "Sequence",
        "id": "all",
        "activities": [{"type": "WriteLine", "id": "line", "text": "x"}],
    },
}
limit(200)


class Cluster:
    """The objects of the chart, and their pods as processes."""

    def __init__(self, folder, objects):
        self.folder, self.objects = folder, objects
        self.started, self.pods = [], []
        names = ["nats", "postgres"]
        for deployment in self.of("Deployment"):
            name = deployment["metadata"]["name"]
            names += [f"{name}-{number}" for number in range(deployment["spec"]["replicas"])]
        self.address = addresses(names)
        self.started.append(start_nats(NATS_SERVER, folder, self.address["nats"]))
        postgres, url = start_postgres(postgresql(), folder, self.address["postgres"])
        self.started.append(postgres)
        self.secrets = {
            ("staunch", "api-key"): KEY,
            ("staunch", "secrets-key"): "5a" * 32,
            ("staunch", "database-url"): url,
            ("owner", "database-url"): url,
            ("mail", "password"): "a-password-of-mail",
            ("staunch", "nats-url"): f"nats://{self.address['nats']}:4222",
        }

    def of(self, kind):
        return [one for one in self.objects if one["kind"] == kind]

    def environment(self, container, fields):
        found = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        for variable in container.get("env", []):
            source = variable.get("valueFrom", {})
            if "secretKeyRef" in source:
                reference = source["secretKeyRef"]
                value = self.secrets.get((reference["name"], reference["key"]))
                if value is None and reference.get("optional"):
                    continue
                assert value is not None, f"no secret has {reference}"
            elif "fieldRef" in source:
                value = fields[source["fieldRef"]["fieldPath"]]
            else:
                value = expanded(variable["value"], found)
            found[variable["name"]] = self.resolved(value, fields.get("address"))
        return found

    def resolved(self, text, address):
        """The same text with the pod's own address, and an endpoint in place of a Service."""
        if address:
            text = text.replace("0.0.0.0", address)
        for service in self.of("Service"):
            for port in service["spec"]["ports"]:
                name = f"http://{service['metadata']['name']}:{port['port']}"
                pod = self.endpoint(service, port["targetPort"])
                text = re.sub(rf"{re.escape(name)}(?!\d)", pod, text)
        return text

    def endpoint(self, service, port):
        """The address of the first pod that a Service selects."""
        for deployment in self.of("Deployment"):
            template = deployment["spec"]["template"]
            if service["spec"]["selector"].items() <= template["metadata"]["labels"].items():
                number = port_of(template["spec"]["containers"][0], port)
                return f"http://{self.address[deployment['metadata']['name'] + '-0']}:{number}"
        raise AssertionError(f"{service['metadata']['name']} selects no pod")

    def command(self, container, environment):
        """The arguments, as the kubelet hands them over."""
        words = [self.resolved(word, None) for word in container["args"]]
        return [STAUNCH] + [expanded(word, environment) for word in words]

    def run(self, pod, fields):
        """Runs the container of a pod to its end."""
        container = pod["containers"][0]
        environment = self.environment(container, fields)
        command = self.command(container, environment)
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, cwd=self.folder
        )
        assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
        return ran.stdout

    def start(self, deployment):
        pod = deployment["spec"]["template"]["spec"]
        for number in range(deployment["spec"]["replicas"]):
            name = f"{deployment['metadata']['name']}-{number}"
            fields = {"metadata.name": name, "address": self.address[name]}
            environment = self.environment(pod["containers"][0], fields)
            command = self.command(pod["containers"][0], environment)
            log = open(self.folder / f"{name}.log", "ab")
            process = spawn(command, log, env=environment, cwd=self.folder)
            self.started.append(process)
            self.pods.append((name, pod, process))


def expanded(text, environment):
    """The text, with $(NAME) as the kubelet replaces it."""
    return re.sub(r"\$\((\w+)\)", lambda found: environment[found.group(1)], text)


def port_of(container, name):
    return next(one["containerPort"] for one in container["ports"] if one["name"] == name)


def the_jobs_make_streams_and_tables(cluster):
    for job in cluster.of("Job"):
        cluster.run(job["spec"]["template"]["spec"], {})


def every_pod_passes_its_probes(cluster):
    for deployment in cluster.of("Deployment"):
        cluster.start(deployment)
    for name, pod, process in cluster.pods:
        container = pod["containers"][0]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            asked = container[probe]
            port = port_of(container, asked["httpGet"]["port"])
            api = Api(f"http://{cluster.address[name]}:{port}")
            limit = asked.get("failureThreshold", 3) * asked.get("periodSeconds", 10)

            def holds():
                assert process.poll() is None, (cluster.folder / f"{name}.log").read_text()[-2000:]
                return api(asked["httpGet"]["path"])[0] == 200

            eventually(f"{probe} of {name}", holds, max(limit, 30))


def the_test_of_the_release_passes(cluster):
    cluster.run(next(one for one in cluster.of("Pod"))["spec"], {})


def the_path_of_the_ingress_is_served(cluster, api):
    """With the path, as the Ingress passes it on, and without it, as the Service and probes ask."""
    place = cluster.of("Ingress")[0]["spec"]["rules"][0]["http"]["paths"][0]["path"]
    assert place == "/flows", place
    for path in ("/health/ready", "/elsa/api/workflow-definitions", "/openapi.json"):
        assert ok(api(place + path)) == ok(api(path)), path
    url = link(api)
    assert url.startswith("https://example.com/flows/bookmarks/resume?t="), url
    # As it comes through the Ingress; this one needs no key.
    came = url.removeprefix("https://example.com")
    assert Api(api.url)(came)[0] == 200, came


def the_settings_arrive(cluster):
    """A number of a million, and a URL with a password from a secret."""
    pod = cluster.of("Deployment")[0]["spec"]["template"]["spec"]
    environment = cluster.environment(pod["containers"][0], {"metadata.name": "any"})
    assert "a-password-of-mail" in environment["STAUNCH_SMTP_URL"], environment
    config = [STAUNCH, "config", "--output", "json"]
    ran = subprocess.run(config, env=environment, capture_output=True, text=True, check=True)
    config = {one["name"]: one["value"] for one in json.loads(ran.stdout)}
    assert config["max-backlog"] == "1000000", config["max-backlog"]
    assert config["smtp-url"] == "smtp://staunch:***@mail.example:587", config["smtp-url"]


def the_roles_work_together(cluster, api):
    for definition in (ORDER, NIGHTLY):
        assert ok(api("/elsa/api/workflow-definitions", definition))["everywhere"] is True
    for _ in range(INSTANCES):
        ok(api("/elsa/api/workflow-instances", {"definitionId": "order"}))
    find = "/elsa/api/workflow-instances?subStatus=Finished&definitionId=order"
    eventually("all instances finish", lambda: ok(api(find))["totalCount"] == INSTANCES)
    key = {"name": "cron", "permissions": ["exec:workflow-definitions"]}
    cluster.secrets["cron", "api-key"] = ok(api("/elsa/api/api-keys", key))["key"]


def the_tries_of_a_run_start_one_instance(cluster, api):
    job = cluster.of("CronJob")[0]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    label = "metadata.labels['batch.kubernetes.io/job-name']"
    ids = [
        cluster.run(job, {label: name}).strip()
        for name in ("nightly-29000001", "nightly-29000001", "nightly-29001441")
    ]
    assert ids[0] == ids[1] != ids[2], ids
    instance = ok(api(f"/elsa/api/workflow-instances/{ids[0]}"))
    assert 'daily \\"full\\"' in json.dumps(instance), instance


def every_pod_stops_within_its_grace_period(cluster):
    for _, _, process in cluster.pods:
        process.send_signal(signal.SIGTERM)
    for name, pod, process in cluster.pods:
        began, grace = time.monotonic(), pod["terminationGracePeriodSeconds"]
        code = process.wait(timeout=grace)
        assert code == 0, (name, code, time.monotonic() - began)


HELM = program("helm", "helm")
folder = pathlib.Path(tempfile.mkdtemp(prefix="staunch-chart-"))
folder.chmod(0o755)
(folder / "values.yaml").write_text(VALUES)
chart = ["template", "staunch", str(COMPOSE / "helm/staunch"), "--kube-version", "1.37.0"]
rendered = subprocess.run(
    [HELM, *chart, "--values", folder / "values.yaml"], capture_output=True, text=True, check=True
).stdout
cluster = Cluster(folder, [one for one in yaml.safe_load_all(rendered) if one])
try:
    the_settings_arrive(cluster)
    the_jobs_make_streams_and_tables(cluster)
    every_pod_passes_its_probes(cluster)
    the_test_of_the_release_passes(cluster)
    front = next(one for one in cluster.of("Service") if one["metadata"]["name"] == "staunch")
    api = Api(cluster.endpoint(front, "http"), KEY)
    the_path_of_the_ingress_is_served(cluster, api)
    the_roles_work_together(cluster, api)
    the_tries_of_a_run_start_one_instance(cluster, api)
    every_pod_stops_within_its_grace_period(cluster)
    print(f"{len(cluster.pods)} pods ran: {', '.join(name for name, _, _ in cluster.pods)}")
finally:
    kill(cluster.started)
    shutil.rmtree(folder, ignore_errors=True)
