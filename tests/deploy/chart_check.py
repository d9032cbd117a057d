"""Checks the Helm chart, and the manifests that are rendered from it, without a cluster.

Renders the chart with every file of its folder `ci`, and compares the manifests of
compose/kubernetes with what the chart says, and the names of `settings` in its schema with
docs/configuration.md (UPDATE_EXPECT=1 writes both). Everything is validated against the schemas of
four versions of Kubernetes, and against the CRDs of KEDA, the Prometheus operator and the Gateway API. Every
flag and variable is compared with the binary.

Usage: chart_check.py STAUNCH
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

import jsonschema
import kubernetes_validate
import yaml

from compose_file import COMPOSE, ROOT
from tools import go_module, program

STAUNCH = sys.argv[1]
CHART = COMPOSE / "helm/staunch"
MANIFESTS = COMPOSE / "kubernetes"
VERSIONS = ["1.34.0", "1.35.0", "1.36.0", "1.37.0"]
NEWEST = VERSIONS[-1]
HELM, KUSTOMIZE = program("helm", "helm"), program("kustomize", "helm")
CRDS = [
    ("github.com/kedacore/keda/v2", "v2.21.0", "config/crd/bases/keda.sh_scaledobjects.yaml"),
    (
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
    ),
    (
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
    ),
    (
        "sigs.k8s.io/gateway-api",
        "v1.4.1",
        "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
    ),
]
# What kube-score asks for and the chart does otherwise: pods are spread by topology constraints,
# images have fixed tags, a trial has one replica, and processor time is not limited.
SCORE_WITHOUT = [
    "deployment-has-host-podantiaffinity",
    "container-image-pull-policy",
    "deployment-replicas",
]
# Values that are refused, with a part of the reason.
REFUSED = [
    ("", "set nats.url"),
    ("nats.url=nats://user:password@host:4222", "nats/url"),
    ("nats.enabled=true,topology=one", "topology"),
    ("nats.enabled=true,settings.api-key=x", "invalid propertyName 'api-key'"),
    ("nats.enabled=true,settings.base-path=/x", "invalid propertyName 'base-path'"),
    ("nats.enabled=true,settings.Log=info", "invalid propertyName 'Log'"),
    ("nats.enabled=true,settings.lease_ttl=6s", "invalid propertyName 'lease_ttl'"),
    ("nats.enabled=true,settings.lease-time=6s", "invalid propertyName 'lease-time'"),
    ("nats.enabled=true,settings.misfire=skip", "invalid propertyName 'misfire'"),
    ("nats.enabled=true,replicas=3", "replicas"),
    ("nats.enabled=true,workloads.all.replicas=many", "replicas"),
    (
        "nats.enabled=true,workloads.all.autoscaling.enabled=true,workloads.all.keda.enabled=true",
        "enable one",
    ),
    (
        "nats.enabled=true,workloads.all.autoscaling.enabled=true,workloads.all.autoscaling.min=5,"
        "workloads.all.autoscaling.max=2",
        "workloads.all.autoscaling: min 5 is above max 2",
    ),
    (
        "nats.enabled=true,workloads.all.keda.enabled=true,workloads.all.keda.max=2",
        "workloads.all.keda: min 3 is above max 2",
    ),
    ("nats.enabled=true,workloads.all.resources.limits.memory=lots", "limits/memory"),
    ("nats.enabled=true,workloads.all.resources.requests.cpu=250mm", "requests/cpu"),
    ("nats.enabled=true,workloads.all.resources.limit.memory=1Gi", "resources"),
    ("nats.enabled=true,nats.url=nats://n:4222", "set one of them"),
    ("nats.enabled=true,nats.urlSecret.name=s", "set one of them"),
    ("nats.url=nats://n:4222,nats.urlSecret.name=s", "set one of them"),
    ("nats.enabled=true,ingress.host=a b.example.com", "ingress/host"),
    ("nats.enabled=true,gateway.host=https://a.example.com", "gateway/host"),
    ("nats.enabled=true,ingress.path=/flows(/|$)(.*)", "ingress/path"),
    ("nats.enabled=true,ingress.path=/a/../b", "ingress/path"),
    (
        "nats.enabled=true,ingress.enabled=true,ingress.path=/flows,publicUrl=https://example.com",
        "does not end with ingress.path, /flows",
    ),
    ("nats.url=nats://n:4222,workloads.all.keda.enabled=true", "nats.monitoring"),
    ("nats.enabled=true,topology=roles,workloads.timer.keda.enabled=true", "work for executors"),
    ("nats.enabled=true,gateway.enabled=true", "gateway.name"),
    ("nats.enabled=true,database.urlSecret.name=", "urlSecret"),
    ("nats.enabled=true,cronJobs.a.schedule=daily", "schedule"),
    ("nats.enabled=true,nats.copies=2", "copies"),
    ("nats.enabled=true,monitoring.enabled=true,monitoring.keySecret.name=", "monitoring.keySecret.name"),
]

# Settings that the chart makes of other values.
OWN = [
    *["admin-listen", "admin-name", "admin-password", "api-key", "auth", "base-path", "base-url"],
    *["database-url", "drain-delay", "drain-seconds", "listen", "log-format", "metrics-key"],
    *["nats-ca", "nats-creds", "nats-url", "node", "role", "secrets-key", "trusted-proxies"],
]

# Values that make the public address, with the base-url and the base-path that the nodes get.
ADDRESSES = [
    ("", "http://staunch.staunch.svc:80", None),
    ("ingress.enabled=true,ingress.host=a.example", "http://a.example", None),
    ("ingress.enabled=true,ingress.host=a.example,ingress.path=/b", "http://a.example/b", "/b"),
    (
        "ingress.enabled=true,ingress.host=a.example,ingress.path=/b/c/,ingress.tlsSecret=t",
        "https://a.example/b/c",
        "/b/c",
    ),
    ("ingress.enabled=true,ingress.path=/b,publicUrl=https://x.example/b/", "https://x.example/b/", "/b"),
    ("ingress.host=a.example,ingress.path=/b", "http://staunch.staunch.svc:80", None),
    ("publicUrl=https://x.example/y", "https://x.example/y", None),
    ("gateway.enabled=true,gateway.name=g,gateway.host=a.example", "https://a.example", None),
]

complaints = []


def complain(text):
    complaints.append(text)


def helm(*arguments):
    return subprocess.run([HELM, *arguments], capture_output=True, text=True)


def render(values, version=NEWEST, *more):
    arguments = ["template", "staunch", str(CHART), "--namespace", "staunch"]
    ran = helm(*arguments, "--kube-version", version, "--values", str(values), *more)
    if ran.returncode:
        complain(f"{values}: {ran.stderr.strip()}")
    return ran.stdout


def documents(text):
    return [document for document in yaml.safe_load_all(text) if document]


def name_of(document):
    return f"{document['kind']} {document['metadata']['name']}"


def closed(schema):
    """The schema of a CRD as the API server applies it when it refuses unknown fields."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(value) if key != "enum" else value for key, value in schema.items()}
    if schema.pop("x-kubernetes-int-or-string", False):
        return {"type": ["integer", "string"]}
    is_open = schema.get("x-kubernetes-preserve-unknown-fields")
    is_object = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    if is_object and not is_open and "additionalProperties" not in schema:
        schema["additionalProperties"] = False
    # The regular expressions of Go know forms that those of Python do not.
    if "pattern" in schema and isinstance(schema["pattern"], str):
        try:
            re.compile(schema["pattern"])
        except re.error:
            del schema["pattern"]
    schema.pop("format", None)
    return schema


def custom_schemas():
    found = {}
    for module, version, path in CRDS:
        crd = yaml.safe_load((go_module(module, version, "helm") / path).read_text())
        for served in crd["spec"]["versions"]:
            schema = closed(served["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}
            key = (f"{crd['spec']['group']}/{served['name']}", crd["spec"]["names"]["kind"])
            found[key] = schema
    return found


def validate(where, document, versions):
    key = (document["apiVersion"], document["kind"])
    if key in CUSTOM:
        for error in jsonschema.Draft7Validator(CUSTOM[key]).iter_errors(document):
            place = "/".join(map(str, error.absolute_path))
            complain(f"{where}: {name_of(document)}: {place}: {error.message[:300]}")
        SEEN.add(key)
        return
    for version in versions:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except Exception as error:
            complain(f"{where}: {name_of(document)} with Kubernetes {version}: {str(error)[:500]}")
            return


def pods(found):
    """Every pod that a document makes."""
    for document in found:
        spec = document.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        pod = (
            document["spec"] if document["kind"] == "Pod" else spec.get("template", {}).get("spec")
        )
        if pod and "containers" in pod:
            yield document, pod


def check_pods(where, found):
    for document, pod in pods(found):
        who = f"{where}: {name_of(document)}"
        if pod.get("automountServiceAccountToken") is not False:
            complain(f"{who} gets a token of the API server")
        if not pod["securityContext"].get("runAsNonRoot"):
            complain(f"{who} may run as root")
        for container in pod["containers"]:
            rights = container["securityContext"]
            if not rights["readOnlyRootFilesystem"] or rights["capabilities"]["drop"] != ["ALL"]:
                complain(f"{who} has more rights than it needs")
            for variable in container.get("env", []):
                if re.search(r"PASSWORD|API_KEY|METRICS_KEY|SECRETS_KEY|DATABASE_URL", variable["name"]):
                    if "secretKeyRef" not in variable.get("valueFrom", {}):
                        complain(f"{who}: {variable['name']} is not from a secret")
            if container["name"] != "nats":
                check_process(who, container)
        if document["kind"] == "Deployment":
            check_deployment(who, document, pod)


PLACEHOLDERS = {
    "STAUNCH_API_KEY": "0123456789abcdefghijklmnopqrstuvwxyz",
    "STAUNCH_METRICS_KEY": "zyxwvutsrqponmlkjihgfedcba9876543210",
    "STAUNCH_DATABASE_URL": "postgres://staunch:password@database/staunch",
    "STAUNCH_NATS_URL": "nats://staunch:password@nats:4222",
    "STAUNCH_ADMIN_PASSWORD": "a long pass phrase of somebody",
    "STAUNCH_SECRETS_KEY": "00" * 32,
    "STAUNCH_NODE": "staunch-0",
}


CREDENTIALS = """-----BEGIN NATS USER JWT-----
a.b.c
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
SUAB
------END USER NKEY SEED------
"""


def authorities(path):
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    made += ["-subj", "/CN=authority", "-keyout", os.devnull, "-out", path]
    subprocess.run(made, check=True, capture_output=True)


# Files that a pod has from secrets and this machine has not: what makes one in their place.
FILES = {
    "STAUNCH_NATS_CA": authorities,
    "STAUNCH_NATS_CREDS": lambda path: pathlib.Path(path).write_text(CREDENTIALS),
}


def check_process(who, container):
    """The binary knows every flag, and accepts all variables together."""
    arguments = container["args"]
    run = subprocess.run([STAUNCH, *arguments, "--help"], capture_output=True, text=True)
    if f"Usage: staunch {arguments[0]}" not in run.stdout:
        complain(f"{who}: staunch {' '.join(arguments)}: {(run.stdout + run.stderr)[:300]}")
    for flag in [word for word in arguments if word.startswith("--")]:
        if flag not in run.stdout:
            complain(f"{who}: `staunch {arguments[0]}` knows no {flag}")
    environment = {
        one["name"]: one.get("value", PLACEHOLDERS.get(one["name"]))
        for one in container.get("env", [])
    }
    missing = [name for name, value in environment.items() if value is None and name != "RUN"]
    if missing:
        complain(f"{who}: {missing} have no value that could be tried")
        return
    for name in environment:
        known = name.removeprefix("STAUNCH_").lower().replace("_", "-")
        if name.startswith("STAUNCH_") and name != "STAUNCH_SERVER" and known not in SETTINGS:
            complain(f"{who}: there is no setting {known}")
    if arguments[0] == "server":
        given = {name: str(value) for name, value in environment.items()}
        with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as secrets:
            for name in given.keys() & FILES.keys():
                path = os.path.join(secrets, name)
                FILES[name](path)
                given[name] = path
            ran = subprocess.run(
                [STAUNCH, "config", *arguments[1:]],
                capture_output=True,
                text=True,
                env=given,
                cwd=empty,
            )
        if ran.returncode:
            complain(f"{who}: {ran.stderr.strip()}")


def check_deployment(who, document, pod):
    container = pod["containers"][0]
    if container["name"] != "staunch":
        return
    values = {one["name"]: one.get("value") for one in container["env"]}
    if values.get("STAUNCH_ADMIN_LISTEN") != "0.0.0.0:5002":
        complain(f"{who} has no port for health")
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if container[probe]["httpGet"]["port"] != "admin":
            complain(f"{who}: {probe} asks another port")
    delay = int(values["STAUNCH_DRAIN_DELAY"].removesuffix("s"))
    needed = delay + int(values["STAUNCH_DRAIN_SECONDS"])
    if pod["terminationGracePeriodSeconds"] <= needed:
        complain(f"{who}: the grace period is shorter than the delay and the drain ({needed} s)")
    # A pod leaves the endpoints when it is told to stop; the delay is for those who learn it late.
    if delay < 5:
        complain(f"{who} accepts requests for {delay} s only")
    selected = document["spec"]["selector"]["matchLabels"]
    labels = document["spec"]["template"]["metadata"]["labels"]
    if any(labels.get(key) != value for key, value in selected.items()):
        complain(f"{who} does not select its own pods")


def check_metrics_key(where, found):
    """Prometheus has the key that the pods take."""
    monitors = [one for one in found if one["kind"] == "ServiceMonitor"]
    for document, pod in pods(found):
        for variable in pod["containers"][0].get("env", []) if monitors else []:
            if variable["name"] == "STAUNCH_METRICS_KEY":
                taken = dict(variable["valueFrom"]["secretKeyRef"])
                taken.pop("optional")
                for monitor in monitors:
                    sent = monitor["spec"]["endpoints"][0]["authorization"]["credentials"]
                    if sent != taken:
                        complain(f"{where}: {name_of(document)} takes {taken}, not {sent}")
                break
        else:
            if monitors and document["kind"] == "Deployment":
                complain(f"{where}: {name_of(document)} takes no key of the metrics")


def check_runbooks(where, found, base):
    """The links of the alerts lead to the book that the nodes show."""
    rules = [
        rule
        for one in found
        if one["kind"] == "PrometheusRule"
        for group in one["spec"]["groups"]
        for rule in group["rules"]
    ]
    for rule in rules:
        expected = f"{base}/docs/book/alerts#{rule['alert'].lower()}"
        if rule["annotations"]["runbook_url"] != expected:
            complain(f"{where}: {rule['annotations']['runbook_url']} is not {expected}")
    return len(rules)


def check_links(where, found):
    """What names another object names one that is there."""
    labels = [
        (document["spec"]["template"]["metadata"]["labels"], pod)
        for document, pod in pods(found)
        if document["kind"] in ("Deployment", "StatefulSet")
    ]
    deployments = {d["metadata"]["name"] for d in found if d["kind"] == "Deployment"}
    made = {d["metadata"]["name"] for d in found if d["kind"] == "Service"}
    for document in found:
        kind, spec = document["kind"], document.get("spec", {})
        if kind in ("Service", "PodDisruptionBudget", "NetworkPolicy"):
            wanted = spec.get("podSelector", spec.get("selector"))
            wanted = wanted.get("matchLabels", wanted)
            chosen = [pod for has, pod in labels if wanted.items() <= has.items()]
            if not chosen:
                complain(f"{where}: {name_of(document)} selects no pod")
            for port in spec.get("ports", []) if kind == "Service" else []:
                names = {
                    one["name"]: one["containerPort"]
                    for pod in chosen
                    for one in pod["containers"][0]["ports"]
                }
                target = port.get("targetPort", port["port"])
                if target not in names and target not in names.values():
                    complain(f"{where}: {name_of(document)}: no pod has the port {target}")
        if kind in ("ScaledObject", "HorizontalPodAutoscaler"):
            target = spec["scaleTargetRef"]["name"]
            if target not in deployments:
                complain(f"{where}: {name_of(document)} scales {target}, which does not exist")
            owner = next((d for d in found if name_of(d) == f"Deployment {target}"), {"spec": {}})
            if "replicas" in owner["spec"]:
                complain(f"{where}: the replicas of {target} are set twice")
        if kind in ("Ingress", "HTTPRoute"):
            text = json.dumps(spec)
            if not any(f'"name": "{name}"' in text for name in made):
                complain(f"{where}: {name_of(document)} leads to no Service")


# What the links of the alerts begin with, by the values.
RUNBOOKS = {
    "odd.yaml": "https://runbooks.example.com/flows",
    "roles.yaml": "https://flows.example.com",
}


def check_chart():
    for values in sorted((CHART / "ci").glob("*.yaml")):
        lint = helm(
            "lint", str(CHART), "--strict", "--kube-version", NEWEST, "--values", str(values)
        )
        if lint.returncode:
            complain(f"{values.name}: {lint.stdout}{lint.stderr}")
        for version in VERSIONS:
            found = documents(render(values, version))
            for document in found:
                validate(values.name, document, [version])
        check_pods(values.name, found)
        check_links(values.name, found)
        check_metrics_key(values.name, found)
        alerts = check_runbooks(values.name, found, RUNBOOKS.get(values.name))
        if (alerts > 0) != (values.name in RUNBOOKS):
            complain(f"{values.name} has {alerts} alerts")
        COUNTS.append(len(found))
    for values, reason in REFUSED:
        ran = helm(
            "template",
            "x",
            str(CHART),
            "--kube-version",
            NEWEST,
            *(["--set", values] if values else []),
        )
        if ran.returncode == 0 or reason not in ran.stderr:
            complain(
                f"{values or 'no values'} are not refused with {reason!r}: {ran.stderr[-300:]}"
            )
    for version in ("1.29.9",):
        if (
            helm(
                "template", "x", str(CHART), "--kube-version", version, "--set", "nats.enabled=true"
            ).returncode
            == 0
        ):
            complain(f"Kubernetes {version} is not refused")


def check_addresses():
    """Links of the nodes begin with what callers reach, and the nodes serve the Ingress' path."""
    more = "nats.enabled=true,topology=roles,monitoring.enabled=true"
    for values, url, path in ADDRESSES:
        found = documents(
            render(os.devnull, NEWEST, "--set", ",".join(filter(None, (more, values))))
        )
        for document in found:
            if document["kind"] == "Deployment":
                env = document["spec"]["template"]["spec"]["containers"][0]["env"]
                given = {one["name"]: one.get("value") for one in env}
                said = given["STAUNCH_BASE_URL"], given.get("STAUNCH_BASE_PATH")
                if said != (url, path):
                    complain(f"{values}: {name_of(document)} gets {said}, not {(url, path)}")
            if document["kind"] == "Ingress":
                taken = document["spec"]["rules"][0]["http"]["paths"][0]["path"]
                if taken.rstrip("/") != (path or ""):
                    complain(f"{values}: the Ingress takes {taken}, the nodes serve {path}")
        check_pods(values, found)
        check_runbooks(values, found, url.rstrip("/"))


def check_settings():
    """`settings` takes each setting that is described and that the chart does not make itself."""
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", (ROOT / "docs/configuration.md").read_text(), re.M)
    names = json.dumps(sorted(set(rows) - set(OWN)))
    path = CHART / "values.schema.json"
    before = path.read_text()
    listed = re.compile(r'(?<="propertyNames": \{ "enum": )\[[^]]*\]')
    lines = textwrap.wrap(names[1:-1], 104, break_on_hyphens=False)
    text = "[\n        " + "\n        ".join(lines) + "\n      ]"
    after, count = listed.subn(text, before)
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(after)
    if count != 1 or path.read_text() != after:
        complain(
            "values.schema.json does not list the settings of docs/configuration.md: "
            "UPDATE_EXPECT=1 just compose-check"
        )
    for name in (set(OWN) - set(rows)) | (set(rows) - SETTINGS):
        complain(f"{name} is no setting that is described, or none of the binary")


# Files of compose/kubernetes: the values that they are rendered with, and the kinds that they have.
CUSTOM_KINDS = {
    "monitoring": ["ServiceMonitor", "PrometheusRule"],
    "keda": ["ScaledObject"],
    "gateway": ["HTTPRoute"],
}
HEAD = "# Rendered from compose/helm/staunch. Do not edit: change the chart, then UPDATE_EXPECT=1 just compose-check\n"


def check_manifests():
    left_out = [kind for kinds in CUSTOM_KINDS.values() for kind in kinds]
    for folder in ("base", "roles", "trial"):
        found = documents(render(MANIFESTS / folder / "values.yaml", NEWEST, "--no-hooks"))
        for document in found:
            document["metadata"]["labels"].pop("app.kubernetes.io/managed-by", None)
            template = (
                document.get("spec", {}).get("template", {}).get("metadata", {}).get("labels", {})
            )
            template.pop("app.kubernetes.io/managed-by", None)
        compare(
            MANIFESTS / folder / "staunch.yaml", [d for d in found if d["kind"] not in left_out]
        )
        if folder == "roles":
            for component, kinds in CUSTOM_KINDS.items():
                chosen = [d for d in found if d["kind"] in kinds]
                compare(MANIFESTS / "components" / component / "staunch.yaml", chosen)
    for kustomization in sorted(MANIFESTS.rglob("kustomization.yaml")):
        folder = kustomization.parent
        if "components" in folder.parts:
            continue
        ran = subprocess.run([KUSTOMIZE, "build", str(folder)], capture_output=True, text=True)
        if ran.returncode:
            complain(f"{folder}: {ran.stderr}")
            continue
        found = documents(ran.stdout)
        where = str(folder.relative_to(ROOT))
        for document in found:
            validate(where, document, VERSIONS)
        check_pods(where, found)
        check_links(where, found)
        COUNTS.append(len(found))


def compare(path, found):
    text = HEAD + yaml.safe_dump_all(found, sort_keys=False, width=1000)
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text(text)
    if not path.exists() or path.read_text() != text:
        complain(
            f"{path.relative_to(ROOT)} is not what the chart says: UPDATE_EXPECT=1 just compose-check"
        )


def check_score():
    """kube-score, where it is installed."""
    path = f"{os.environ['PATH']}:{os.environ.get('GOBIN', '')}:{pathlib.Path.home()}/go/bin"
    found = documents(render(CHART / "ci/roles.yaml", NEWEST, "--skip-tests"))
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump_all(found, file)
        file.flush()
        tool = shutil.which("kube-score", path=path)
        if tool is None:
            print("NOT RUN: kube-score is not installed")
            return
        without = [f"--ignore-test={one}" for one in SCORE_WITHOUT]
        score = [tool, "score", "--kubernetes-version", "v1.34", "--ignore-container-cpu-limit"]
        ran = subprocess.run(
            [*score, *without, "-o", "ci", file.name], capture_output=True, text=True
        )
        bad = [
            line for line in ran.stdout.splitlines() if not line.startswith(("[OK]", "[SKIPPED]"))
        ]
        if ran.returncode or bad:
            complain(f"kube-score: {'; '.join(bad)[:3000]}{ran.stderr[-300:]}")


COUNTS, SEEN = [], set()
CUSTOM = custom_schemas()
settings = subprocess.run(
    [STAUNCH, "config", "--output", "json"], capture_output=True, text=True, cwd="/"
)
SETTINGS = {one["name"] for one in json.loads(settings.stdout)}
check_settings()
check_chart()
check_addresses()
check_manifests()
check_score()
for key in set(CUSTOM) - SEEN:
    if key[0] not in ("gateway.networking.k8s.io/v1beta1",):
        complain(f"no {key[1]} was validated")
for complaint in complaints:
    print(complaint)
print(
    f"{sum(COUNTS)} objects, {len(VERSIONS)} versions of Kubernetes, {len(complaints)} complaints"
)
sys.exit(bool(complaints))
