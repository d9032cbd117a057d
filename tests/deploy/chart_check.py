"""Checks the Helm chart, and the manifests that are rendered from it, without a cluster.

Renders the chart with every file of its folder `ci`, and compares the manifests of
compose/kubernetes with what the chart says (UPDATE_EXPECT=1 writes them), and its files/settings.yaml with
the binary. Everything is validated against the schemas of four versions of Kubernetes, and against the CRDs
of KEDA, the Prometheus operator and the Gateway API. Every flag and variable is compared with the binary.

Usage: chart_check.py STAUNCH
"""

import functools
import ipaddress
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

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
# Texts that neither the chart nor the binary takes, by the setting.
WRONG = {
    "flowchart-mode": ["tokens", "Token"],
    "incident-strategy": ["ignore"],
    "log-persistence": ["all"],
    "tls-client-auth": ["maybe"],
    "script-libraries": ["jquery"],
    "oidc-algorithms": ["HS256"],
    "oidc-leeway": ["6m"],
    "oidc-keys-time": ["30s"],
    "oidc-roles": ["{bad", "[]", "{},{}"],
    "retry-strategies": ["{}x"],
    "call-hosts": ["order", "order=a:80", "=a", "a=b..c"],
    "nats-subjects": ["x", "x=$SYS.>", "*=orders.>|staunch.>"],
    "nats-buckets": ["=a", "*=STAUNCH_X"],
    "script-config": ["novalue"],
    "cors-origins": ["*", "example.com", "https://a/"],
    "payload-store": ["ftp://x", "s3://", "nats,s3:/x"],
    "archive-to": ["s3:/x", "gs://x"],
    "limit-address": ["0/1m", "1/0s", "1/25h", "4294967295/1ms"],
    "log": ["verbose", "executor=loud", "info,"],
    "otlp-endpoint": ["localhost:4318", "ftp://x", "http://c:99999"],
    "smtp-from": ["nobody"],
    "timer-scan-seconds": ["3601"],
    "executor-concurrency": ["100001"],
}


def escaped(text):
    """A text as the flag `--set` reads it."""
    return re.sub(r"([,={}\[\]\\])", r"\\\1", text)


# Values that are refused, with a part of the reason.
REFUSED = [
    ("", "set nats.url"),
    ("nats.url=nats://user:password@host:4222", "nats/url"),
    ("nats.enabled=true,topology=one", "topology"),
    (
        "nats.enabled=true,settings.api-key=x",
        "settings.api-key is not taken here: set auth.apiKeySecret",
    ),
    (
        "nats.enabled=true,settings.base-path=/x",
        "settings.base-path is not taken here: set ingress.path",
    ),
    (
        "nats.enabled=true,settings.Log=info",
        "settings.Log: there is no such setting; did you mean log?",
    ),
    (
        "nats.enabled=true,settings.lease_ttl=6s",
        "settings.lease_ttl: there is no such setting; did you mean lease-ttl?",
    ),
    (
        "nats.enabled=true,settings.lease-time=6s",
        "settings.lease-time: there is no such setting; did you mean lease-ttl, lease-wait?",
    ),
    (
        "nats.enabled=true,settings.misfire=skip",
        "settings.misfire: there is no such setting; docs/configuration.md",
    ),
    ("nats.enabled=true,settings.node=a", "settings.node is not taken here: the chart sets it itself"),
    # Values that no node would take, and names that none would read.
    *[
        (
            f"nats.enabled=true,settings.{name}={escaped(text)}",
            f"settings.{name} is {json.dumps(text)}: it must be",
        )
        for name, texts in WRONG.items()
        for text in texts
    ],
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_FLOWCHART_MODE,extraEnv[0].value=tokens",
        'the value of STAUNCH_FLOWCHART_MODE in extraEnv is "tokens": it must be counter or token',
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_SMTP_URL,extraEnv[0].value=h:25",
        "it must begin with smtp:// or smtps://",
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_SQL_CONNECTIONS,extraEnv[0].value=a=oracle://x",
        "it must be NAME=URL",
    ),
    # Settings that do not fit each other.
    ("nats.enabled=true,settings.tls-cert=/a", "settings.tls-cert is set and tls-key is not"),
    ("nats.enabled=true,settings.tls-key=/a", "settings.tls-key is set and tls-cert is not"),
    ("nats.enabled=true,settings.nats-tls-cert=/a", "nats-tls-cert is set and nats-tls-key is not"),
    ("nats.enabled=true,settings.tls-client-ca=/a", "settings.tls-client-ca is set and tls-cert is not"),
    ("nats.enabled=true,settings.tls-client-auth=optional", "and tls-client-ca is not"),
    (
        "nats.enabled=true,secretsKeySecret.name=s,settings.secrets-key-file=/a",
        "secretsKeySecret and settings.secrets-key-file are both set",
    ),
    (
        "nats.enabled=true,auth.schemes=identity,auth.adminName=a,auth.adminPasswordSecret.name=s,"
        "settings.admin-password-file=/a",
        "auth.adminPasswordSecret and settings.admin-password-file are both set",
    ),
    (
        "nats.enabled=true,auth.schemes=identity,settings.admin-password-file=/a",
        "the first user has no name: set auth.adminName",
    ),
    (
        "nats.enabled=true,auth.schemes=identity,auth.adminPasswordSecret.name=a",
        "auth.adminPasswordSecret is set, and the first user has no name: set auth.adminName",
    ),
    (
        "nats.enabled=true,settings.access-token-time=3h",
        "access-token-time is 3h and refresh-token-time is 2h",
    ),
    ("nats.enabled=true,settings.require-https=true", "require-https is set, and links begin with http://"),
    ("nats.enabled=true,auth.schemes=oidc", "auth.schemes has oidc, and there is no oidc-"),
    (
        "nats.enabled=true,auth.schemes=oidc,settings.oidc-audience=a,settings.oidc-issuer=http://a",
        "it must begin with https://",
    ),
    (
        r"nats.enabled=true,auth.schemes=oidc\,identity,settings.oidc-audience=a,"
        "settings.oidc-issuer=https://a,settings.token-issuer=https://a",
        "choose another token-issuer",
    ),
    (
        "nats.enabled=true,workloads.all.autoscaling.enabled=true,workloads.all.resources.requests.cpu=null",
        "set its resources.requests.cpu",
    ),
    ("nats.enabled=true,settings.lease-ttl=10", 'settings.lease-ttl is "10": it must be a time'),
    ("nats.enabled=true,settings.lease-ttl=0s", 'settings.lease-ttl is "0s": it must be at least 1s'),
    (
        "nats.enabled=true,settings.lease-ttl=500h",
        'settings.lease-ttl is "500h": it must be at most 60s',
    ),
    (
        "nats.enabled=true,settings.database-connections=0",
        'settings.database-connections is "0": it must be at least 1',
    ),
    ("nats.enabled=true,settings.max-backlog=many", 'settings.max-backlog is "many": it must be a whole'),
    ("nats.enabled=true,settings.max-backlog=1.5", 'settings.max-backlog is "1.5": it must be a whole'),
    ("nats.enabled=true,settings.sql-urls=maybe", 'settings.sql-urls is "maybe": it must be true or'),
    ("nats.enabled=true,settings.limit-address=100", 'settings.limit-address is "100": it must be a number'),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_LEASE_TTL,extraEnv[0].value=10m",
        'the value of STAUNCH_LEASE_TTL in extraEnv is "10m": it must be at most 60s',
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_LOGG,extraEnv[0].value=warn",
        "extraEnv sets STAUNCH_LOGG, and there is no such setting",
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_LEASE_TLL_FILE,extraEnv[0].value=/a",
        "there is no such setting; did you mean lease-ttl, lease-wait?",
    ),
    ("nats.enabled=true,image.tag= ", "image/tag"),
    ("nats.enabled=true,image.repository= ", "image/repository"),
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
    # KEDA finds the streams in one account only.
    (
        "nats.url=nats://n:4222,nats.monitoring=n:8222,workloads.all.keda.enabled=true",
        "keda needs nats.account",
    ),
    # Secrets in plain sight, and settings that are not the same for all pods.
    ("nats.enabled=true,settings.smtp-url=smtp://h:25", "set STAUNCH_SMTP_URL in extraEnv"),
    (
        "nats.enabled=true,settings.sql-connections=a=sqlite://a",
        "set STAUNCH_SQL_CONNECTIONS in extraEnv",
    ),
    (
        "nats.enabled=true,settings.otlp-endpoint=http://user:password@h:4318",
        "settings.otlp-endpoint has a login",
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_SMTP_URL,extraEnv[0].value=smtp://u:p@h",
        "the value of STAUNCH_SMTP_URL in extraEnv has a login",
    ),
    ("nats.enabled=true,settings.node-address=http://10.0.0.1:5001", "one address for all pods"),
    # What is said twice, and what is said in part.
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_NODE,extraEnv[0].value=a",
        "extraEnv sets STAUNCH_NODE, which the chart sets itself",
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_API_KEY_FILE,extraEnv[0].value=/a",
        "extraEnv sets STAUNCH_API_KEY_FILE, and auth.apiKeySecret says the same",
    ),
    (
        "nats.enabled=true,settings.log=info,extraEnv[0].name=STAUNCH_LOG,extraEnv[0].value=warn",
        "extraEnv sets STAUNCH_LOG, and settings.log says the same",
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_LISTEN,extraEnv[0].value=a",
        "extraEnv sets STAUNCH_LISTEN, which the chart sets itself",
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_DRAIN_SECONDS,extraEnv[0].value=_9",
        "extraEnv sets STAUNCH_DRAIN_SECONDS, and drainSeconds says the same",
    ),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_LOG,extraEnv[0].value=warn,"
        "extraEnv[1].name=STAUNCH_LOG_FILE,extraEnv[1].value=/a",
        "extraEnv sets both STAUNCH_LOG and STAUNCH_LOG_FILE",
    ),
    (
        "nats.enabled=true,auth.apiKeySecret.name=,extraEnv[0].name=STAUNCH_API_KEY_FILE,"
        "extraEnv[0].value=/a,cronJobs.a.schedule=@daily,cronJobs.a.definition=a,"
        "cronJobs.a.keySecret.name=a,cronJobs.a.keySecret.key=a",
        "extraEnv sets STAUNCH_API_KEY_FILE, and cronJobs.a.keySecret says the same",
    ),
    *[
        (
            f"nats.enabled=true,extraEnv[0].name={name},extraEnv[0].value=timer",
            "each Deployment says its role",
        )
        for name in ["STAUNCH_ROLE", "STAUNCH_ROLE_FILE"]
    ],
    *[
        (
            f"nats.enabled=true,extraEnv[0].name={name},extraEnv[0].value=a",
            f"the value of {name} in extraEnv is a secret",
        )
        for name in ["STAUNCH_API_KEY", "STAUNCH_SECRETS_KEY", "AWS_SECRET_ACCESS_KEY"]
    ],
    (
        "nats.enabled=true,extraEnv[0].name=A,extraEnv[0].value=$(B),extraEnv[1].name=B,extraEnv[1].value=b",
        "extraEnv uses $(B) where there is no such variable yet",
    ),
    ("nats.enabled=true,extraEnv[0].name=A", "extraEnv/0"),
    (
        "nats.enabled=true,extraEnv[0].name=A,extraEnv[0].valueFrom.secretKeyRef.name=,"
        "extraEnv[0].valueFrom.secretKeyRef.key=a",
        "secretKeyRef/name",
    ),
    (
        "nats.enabled=true,extraVolumes[0].name=tmp,extraVolumes[0].emptyDir.medium=Memory",
        "two volumes tmp",
    ),
    (
        "nats.enabled=true,extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=/a",
        "the volume a, which extraVolumes does not have",
    ),
    (
        "nats.enabled=true,extraVolumes[0].name=a,extraVolumes[0].secret.secretName=a,"
        "extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=/tmp/",
        "where another volume is",
    ),
    ("nats.enabled=true,auth.adminName=admin", "auth.schemes does not have identity"),
    (
        "nats.enabled=true,cronJobs.a.schedule=@daily,cronJobs.a.definition=a,"
        "cronJobs.a.keySecret.name=,cronJobs.a.keySecret.key=a",
        "keySecret/name",
    ),
    ("nats.enabled=true,auth.apiKeySecret.name=a b", "apiKeySecret/name"),
    ("nats.enabled=true,settings.database-pooler=true", "database.ownerUrlSecret.name"),
    (
        "nats.enabled=true,extraEnv[0].name=STAUNCH_DATABASE_POOLER,extraEnv[0].value=yes",
        "database.ownerUrlSecret.name",
    ),
    (
        "nats.enabled=true,settings.tls-client-ca=/a,settings.tls-cert=/b,settings.tls-key=/c,"
        "cronJobs.a.schedule=@daily,"
        "cronJobs.a.definition=a,cronJobs.a.keySecret.name=a,cronJobs.a.keySecret.key=a",
        "cronJobs show no certificate",
    ),
    # Links need one host.
    (
        "nats.enabled=true,ingress.enabled=true,ingress.host=*.example.com",
        "set publicUrl, such as https://flows.example.com",
    ),
    (
        "nats.enabled=true,gateway.enabled=true,gateway.name=g,gateway.host=*.example.com",
        "set publicUrl, such as https://flows.example.com",
    ),
    *[
        (f"nats.enabled=true,publicUrl={url}", f'publicUrl is "{url}": it must be a URL')
        for url in [
            "https://*.example.com",
            "https://",
            "https://a?x=1",
            "https://a/#f",
            "https://a b",
            "https://a:99999",
            "https://u:p@a",
            "ftp://a",
            f"https://{'a' * 64}.example",
            "https://a_b.example",
            "https://a:08",
            "https://a/../x",
        ]
    ],
    (
        "nats.enabled=true,ingress.enabled=true,ingress.path=/flows",
        "ingress.enabled needs publicUrl or ingress.host",
    ),
    ("nats.enabled=true,gateway.enabled=true,gateway.name=g", "needs publicUrl or gateway.host"),
    # What Kubernetes would refuse later.
    ("nats.enabled=true,labels.tier=1", "labels/tier"),
    ("nats.enabled=true,labels.tier=a b", "labels/tier"),
    ("nats.enabled=true,labels.a b=c", "labels has \"a b\": write a key of"),
    ("nats.enabled=true,service.annotations.a b=c", "service.annotations has \"a b\": write a key of"),
    ("nats.enabled=true,nodeSelector.a b=c", "nodeSelector has \"a b\": write a key of"),
    (
        "nats.enabled=true,cronJobs.Nightly.schedule=@daily,cronJobs.Nightly.definition=a,"
        "cronJobs.Nightly.keySecret.name=k,cronJobs.Nightly.keySecret.key=k",
        "cronJobs has \"Nightly\": ",
    ),
    ("nats.enabled=true,settings=null", "settings is null"),
    ("nats.enabled=true,database=null", "database is null"),
    *[
        (f"nats.enabled=true,{value}=null", f"missing property '{value.rpartition('.')[2]}'")
        for value in [
            "auth.schemes",
            "database.urlSecret",
            "image.tag",
            "jobs.enabled",
            "nats.copies",
            "networkPolicy.egressExcept",
            "networkPolicy.egressPorts",
            "networkPolicy.enabled",
            "service.port",
            "workloads.all",
            "workloads.all.resources.limits",
        ]
    ],
    (
        "nats.enabled=true,auth.schemes=identity,auth.adminPasswordSecret.name=a,"
        f"auth.adminName={'ä' * 101}",
        "auth.adminName has 202 bytes",
    ),
    *[
        (
            "nats.enabled=true,auth.schemes=identity,auth.adminPasswordSecret.name=a,"
            f"auth.adminName=al{letter}ice",
            "without characters that nobody sees",
        )
        for letter in ["\u200b", "\u202e", "\u00a0", "\ufe0f", "\u2800", "\U000e0100"]
    ],
    ("nats.enabled=true,image.repository=reg:5000/a/b:1.2", "image/repository"),
    ("nats.enabled=true,image.repository=Reg/Staunch", "image/repository"),
    ("nats.enabled=true,image.pullSecrets={A b}", "image/pullSecrets/0"),
    ("nats.enabled=true,nats.image=a b", "nats/image"),
    ("nats.url=nats://a:99999", "nats/url"),
    ("nats.url=nats://a b:4222", "nats/url"),
    ("nats.enabled=true,nats.monitoring=a:99999", "nats/monitoring"),
    ("nats.enabled=true,monitoring.interval=0s", "monitoring/interval"),
    ("nats.enabled=true,auth.apiKeySecret.name=a..b", "apiKeySecret/name"),
    ("nats.enabled=true,priorityClassName=A B: c", "priorityClassName"),
    ("nats.enabled=true,serviceAccount.name=A b", "serviceAccount/name"),
    ("nats.enabled=true,ingress.className=a: b", "ingress/className"),
    ("nats.enabled=true,gateway.name=a: b", "gateway/name"),
    (f"nats.enabled=true,ingress.host={'a' * 64}.example", "ingress/host"),
    ("nats.enabled=true,podAnnotations.a=true", "podAnnotations/a"),
    ("nats.enabled=true,service.annotations.a=1", "service/annotations/a"),
    ("nats.enabled=true,ingress.annotations.a=1", "ingress/annotations/a"),
    ("nats.enabled=true,nodeSelector.a=true", "nodeSelector/a"),
    (r"nats.enabled=true,labels.app\.kubernetes\.io/name=other", "which the chart makes"),
    (r"nats.enabled=true,labels.app\.kubernetes\.io/component=other", "which the chart makes"),
    (
        r"nats.enabled=true,monitoring.labels.app\.kubernetes\.io/instance=other",
        "which the chart makes",
    ),
    ("nats.enabled=true,labels.a=b,monitoring.labels.a=c", "which labels has, too"),
    *[
        (
            f"nats.enabled=true,trustedProxies={{::1,{network}}}",
            f'trustedProxies[1] is "{network}": it must be an address or a network',
        )
        for network in ["999.1.1.1/99", "10.0.0.0/33", "fd00::/129", "10.0.0", "0.0.0.0/0", "::::/64"]
    ],
    ("nats.enabled=true,trustedProxies={10.1.2.3/8}", "has bits behind its prefix"),
    *[
        (f"nats.enabled=true,networkPolicy.{value}=null", f"networkPolicy.{value} is null, which")
        for value in ["egress[0].to[0].podSelector", "from[0].podSelector"]
    ],
    (
        'nats.enabled=true,networkPolicy.egress=[{"to":[{"podSelector":{}}],"ports":[{"port":null}]}]',
        "networkPolicy.egress[0].ports[0].port is null, which",
    ),
    *[
        (
            f"nats.enabled=true,networkPolicy.egress=[{rules}]",
            f"networkPolicy.egress[{at}] says no address in `to`",
        )
        for at, rules in [
            (0, "{}"),
            (0, '{"to":[]}'),
            (0, '{"to":null}'),
            (0, '{"ports":[{"protocol":"TCP","port":8443}]}'),
            (1, '{"to":[{"namespaceSelector":{}}]},{"to":{}}'),
        ]
    ],
    ("nats.enabled=true,networkPolicy.egressExcept={10.0.0.1/8}", "has bits behind its prefix"),
    ("nats.enabled=true,networkPolicy.egressExcept={::::/16}", "egressExcept/0"),
    ("nats.enabled=true,networkPolicy.egressExcept={169.254.0.0}", "egressExcept/0"),
    *[
        (
            f"nats.enabled=true,cronJobs.a.schedule={schedule},cronJobs.a.definition=a,"
            "cronJobs.a.keySecret.name=a,cronJobs.a.keySecret.key=a",
            reason,
        )
        for schedule, reason in [
            ("61 25 * * *", 'cronJobs.a.schedule: "61" is no minute'),
            ("0 25 * * *", 'cronJobs.a.schedule: "25" is no hour'),
            ("0 0 0 * *", 'cronJobs.a.schedule: "0" is no day of the month'),
            ("0 0 1 13 *", 'cronJobs.a.schedule: "13" is no month'),
            ("0 0 1 1 1-7", 'cronJobs.a.schedule: "1-7" is no day of the week'),
            ("*/0 * * * *", 'cronJobs.a.schedule: "*/0" is no minute'),
            ("5-1 * * * *", 'cronJobs.a.schedule: the range "5-1" ends before it begins'),
            ("0 09-08/2 * * *", 'the range "09-08/2" ends before it begins'),
            ("0 0 * Dec-1 *", 'the range "Dec-1" ends before it begins'),
            ("0 0 * * fri-SUN", 'the range "fri-SUN" ends before it begins'),
            ("0 0 * * 1-sun", 'the range "1-sun" ends before it begins'),
            ("@daly", "cronJobs/a/schedule"),
        ]
    ],
    ("nats.enabled=true,nats.storage=2Gi", "set 3Gi or more"),
    ("nats.enabled=true,nats.storage=3071Mi", "set 3Gi or more"),
]
# Values with which KEDA asks for the streams of an account.
ACCOUNTS = [
    ("nats.enabled=true", "$G"),
    ("nats.enabled=true,nats.storage=3Gi,nats.account=A", "A"),
    ("nats.url=nats://n:4222,nats.monitoring=n:8222,nats.account=STAUNCH", "STAUNCH"),
    ("nats.url=nats://n:4222,nats.monitoring=n:8222,nats.account=$G", "$G"),
]

UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

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
    (
        "ingress.enabled=true,ingress.host=*.example,publicUrl=https://x.example",
        "https://x.example",
        None,
    ),
    (
        "gateway.enabled=true,gateway.name=g,gateway.host=*.example,publicUrl=https://x.example",
        "https://x.example",
        None,
    ),
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
                if SECRET.search(variable["name"]):
                    if "secretKeyRef" not in variable.get("valueFrom", {}):
                        complain(f"{who}: {variable['name']} is not from a secret")
                if re.search(r"://[^/@]*:[^$/@]*@", variable.get("value", "")):
                    complain(f"{who}: {variable['name']} shows a password")
            if container["name"] != "nats":
                check_process(who, container)
                check_files(who, pod, container)
        if document["kind"] == "Deployment":
            check_deployment(who, document, pod)


# Variables whose values may be nowhere but in a secret; those that end with _FILE are paths.
SECRET = re.compile(
    r"(PASSWORD|API_KEY|METRICS_KEY|SECRETS_KEY|DATABASE_URL|SMTP_URL|ACCESS_KEY)$"
)
PLACEHOLDERS = {
    "STAUNCH_API_KEY": "0123456789abcdefghijklmnopqrstuvwxyz",
    "STAUNCH_METRICS_KEY": "zyxwvutsrqponmlkjihgfedcba9876543210",
    "STAUNCH_DATABASE_URL": "postgres://staunch:password@database/staunch",
    "STAUNCH_NATS_URL": "nats://nats:4222",
    "STAUNCH_ADMIN_PASSWORD": "a long pass phrase of somebody",
    "STAUNCH_SECRETS_KEY": "00" * 32,
    "STAUNCH_NODE": "staunch-0",
    "STAUNCH_SMTP_URL": "smtp://user:password@mail:587",
    "SHOP_PASSWORD": "password",
    "AWS_ACCESS_KEY_ID": "id",
    "AWS_SECRET_ACCESS_KEY": "key",
    "POD_IP": "10.0.0.1",
}


CREDENTIALS = """-----BEGIN NATS USER JWT-----
e30.eyJpc3MiOiJBIn0.c2ln
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y
------END USER NKEY SEED------
"""


@functools.cache
def pair():
    """A certificate and its key."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("cert", "key")]
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
        made += ["-subj", "/CN=authority", "-out", paths[0], "-keyout", paths[1]]
        subprocess.run(made, check=True, capture_output=True)
        return [path.read_text() for path in paths]


# Files that a pod has from secrets and this machine has not: what is in one in their place.
FILES = {
    **dict.fromkeys(
        ["STAUNCH_NATS_CA", "STAUNCH_SMTP_CA", "STAUNCH_TLS_CERT", "STAUNCH_NATS_TLS_CERT"],
        lambda: pair()[0],
    ),
    "SSL_CERT_FILE": lambda: pair()[0],
    **dict.fromkeys(["STAUNCH_TLS_KEY", "STAUNCH_NATS_TLS_KEY"], lambda: pair()[1]),
    "STAUNCH_NATS_CREDS": lambda: CREDENTIALS,
    "STAUNCH_NATS_NKEY": lambda: re.search(r"^SU\w+$", CREDENTIALS, re.M)[0],
    "STAUNCH_SIGNING_KEY_FILE": lambda: "0123456789abcdefghijklmnopqrstuvwxyz",
    "STAUNCH_SECRETS_KEY_FILE": lambda: "00" * 32,
    "STAUNCH_ADMIN_PASSWORD_FILE": lambda: "a long pass phrase of somebody",
}
FOLDERS = ["STAUNCH_FILES_FOLDER"]


def check_files(who, pod, container):
    """Every file that a variable names is in a volume of the pod."""
    mounted = {one["name"]: one["mountPath"] for one in container.get("volumeMounts", [])}
    volumes = [one["name"] for one in pod.get("volumes", [])]
    if len(volumes) != len(set(volumes)) or not mounted.keys() <= set(volumes):
        complain(f"{who} mounts {mounted}, and has {volumes}")
    for variable in container.get("env", []):
        path = pathlib.PurePath(variable.get("value", ""))
        is_file = variable["name"] in FILES or variable["name"] in FOLDERS
        if is_file and not any(path.is_relative_to(place) for place in mounted.values()):
            complain(f"{who}: {variable['name']} is {path}, which is in no volume")


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
    for name, value in environment.items():
        expanded = lambda found: environment[found.group(1)]
        environment[name] = value and re.sub(r"\$\((\w+)\)", expanded, value)
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
                path = pathlib.Path(secrets, name)
                path.write_text(FILES[name]())
                given[name] = str(path)
            for name in given.keys() & set(FOLDERS):
                given[name] = secrets
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


def check_variables(where, found, values):
    """Settings arrive as they are written, and all containers of Staunch get what extraEnv says."""
    for document, pod in pods(found):
        container = pod["containers"][0]
        if container["name"] == "nats":
            continue
        given = {one["name"]: one for one in container.get("env", [])}
        for variable in values.get("extraEnv", []):
            if given.get(variable["name"]) != variable:
                complain(f"{where}: {name_of(document)} does not get {variable['name']}")
        is_provision = document["metadata"]["name"].endswith("-provision")
        for name, value in values.get("settings", {}).items():
            text = value if isinstance(value, str) else json.dumps(value)
            variable = "STAUNCH_" + name.upper().replace("-", "_")
            said = given.get(variable, {}).get("value")
            is_login = name in ("nats-nkey", "nats-tls-cert", "nats-tls-key")
            if document["kind"] == "Deployment" or (is_provision and is_login):
                if said != text:
                    complain(f"{where}: {name_of(document)}: {name} is {said}, not {text}")


def check_schemes(where, found):
    """Who calls the Service speaks as the nodes do."""
    nodes = [pod for one, pod in pods(found) if one["kind"] == "Deployment"]
    names = {one["name"] for pod in nodes for one in pod["containers"][0]["env"]}
    scheme = "https" if "STAUNCH_TLS_CERT" in names else "http"
    for document, pod in pods(found):
        container = pod["containers"][0]
        texts = container.get("args", []) if container["name"] == "health" else []
        texts = [text for text in texts if "://" in text]
        env = container.get("env", [])
        texts += [one["value"] for one in env if one["name"] == "STAUNCH_SERVER"]
        own = [one["value"] for one in env if one["name"] == "STAUNCH_BASE_URL"]
        texts += [text for text in own if ".svc:" in text]
        if any(not text.startswith(f"{scheme}://") for text in texts):
            complain(f"{where}: {name_of(document)} calls {texts}, and the nodes speak {scheme}")
    for document in found:
        for port in document["spec"]["ports"] if document["kind"] == "Service" else []:
            if port.get("appProtocol", scheme) != scheme:
                complain(f"{where}: {name_of(document)} says {port}, and the nodes speak {scheme}")


# Where clouds have the metadata of a machine, its credentials among it.
CLOUD_METADATA = [
    ipaddress.ip_address(text) for text in ("169.254.169.254", "fd00:ec2::254", "fd20:ce::254")
]


def check_networks(where, found):
    """No rule opens all ports to addresses, or the metadata of the cloud, and an exception is a part of its network."""
    for document in [one for one in found if one["kind"] == "NetworkPolicy"]:
        for rule in document["spec"].get("egress", []):
            blocks = [one["ipBlock"] for one in rule.get("to", []) if "ipBlock" in one]
            if ("ports" in rule or blocks) and not rule.get("ports"):
                complain(f"{where}: {name_of(document)} opens all ports: {rule}")
            for block in blocks:
                cidr = ipaddress.ip_network(block["cidr"])
                for text in block.get("except", []):
                    one = ipaddress.ip_network(text)
                    if one.version != cidr.version or not one.subnet_of(cidr):
                        complain(f"{where}: {name_of(document)}: {one} is no part of {cidr}")
                closed = [ipaddress.ip_network(text) for text in block.get("except", [])]
                for address in CLOUD_METADATA:
                    if address in cidr and not any(address in one for one in closed):
                        complain(f"{where}: {name_of(document)} lets pods call {address}")


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
        check_variables(values.name, found, yaml.safe_load(values.read_text()))
        check_schemes(values.name, found)
        check_networks(values.name, found)
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
            *(["--set-json" if "=[" in values else "--set", values] if values else []),
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


def check_accounts():
    """KEDA asks in the account that has the streams."""
    for values, account in ACCOUNTS:
        more = f"{values},workloads.all.keda.enabled=true"
        found = documents(render(os.devnull, NEWEST, "--set", more))
        scalers = [one for one in found if one["kind"] == "ScaledObject"]
        said = [one["spec"]["triggers"][0]["metadata"]["account"] for one in scalers]
        if said != [account]:
            complain(f"{values}: KEDA asks in {said}, not in {account}")


# Texts that look like numbers, and like true.
ODD_NAMES = ",".join(
    [
        "nats.url=nats://n:4222,nats.credsSecret.name=123,nats.caSecret.name=true",
        "monitoring.keySecret.name=123,monitoring.keySecret.key=456,image.pullSecrets={123,true}",
        "priorityClassName=123,serviceAccount.name=true,auth.apiKeySecret.name=123",
        "ingress.host=1.2,ingress.className=1,ingress.tlsSecret=123",
        "gateway.name=123,gateway.namespace=456,gateway.section=789,gateway.host=a",
    ]
)
# Releases whose names would make one that no Service may have.
BAD_RELEASES = ["a.b", "1a", "staunch.x", f"staunch-{'a' * 31}.b"]
# Releases whose names are cut where a dash is.
LONG_RELEASES = ["a" * 53, f"staunch-{'a' * 30}---b", f"{'a' * 38}-b"]


def check_names():
    """Texts stay texts, and names are such that Kubernetes takes them."""
    enabled = "monitoring.enabled=true,ingress.enabled=true,gateway.enabled=true"
    for namespace in ("staunch", "123"):
        arguments = ["template", "true", str(CHART), "--namespace", namespace, "--kube-version", NEWEST]
        ran = helm(*arguments, "--set-string", ODD_NAMES, "--set", enabled)
        if ran.returncode:
            complain(f"names that look like numbers: {ran.stderr}")
        for document in documents(ran.stdout):
            validate("names that look like numbers", document, VERSIONS)
            for path, value in leaves(document):
                is_text = path[-1] in ("name", "namespace", "key", "secretName", "sectionName")
                if is_text and not isinstance(value, str):
                    complain(f"{name_of(document)}: {path} is {value!r}, and no text")
    for release in BAD_RELEASES:
        ran = helm("template", release, str(CHART), "--kube-version", NEWEST, "--set", "nats.enabled=true")
        if f"the release is called {release}, and the Services take its name" not in ran.stderr:
            complain(f"the release {release} is not refused: {ran.stderr[-300:]}")
    cron = "cronJobs.abcdefghijk.schedule=@daily,cronJobs.abcdefghijk.definition=a"
    cron += ",cronJobs.abcdefghijk.keySecret.name=a,cronJobs.abcdefghijk.keySecret.key=a"
    for release in LONG_RELEASES:
        more = f"nats.enabled=true,topology=roles,{cron}"
        ran = helm("template", release, str(CHART), "--kube-version", NEWEST, "--set", more)
        if ran.returncode:
            complain(f"the release {release}: {ran.stderr}")
        for document in documents(ran.stdout):
            name, most = document["metadata"]["name"], 52 if document["kind"] == "CronJob" else 63
            if len(name) > most or not re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", name):
                complain(f"the release {release}: {name_of(document)} is no name")


def leaves(value, path=()):
    """Each value that is no list and no map, with its place."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for below in value:
            yield from leaves(below, path)
    elif path:
        yield path, value


def check_storage():
    """The least `nats.storage` has room for what the streams reserve."""
    topology = tomllib.loads((ROOT / "nats/topology.toml").read_text())
    kept = [one for kind in ("stream", "bucket", "object_store") for one in topology[kind]]
    reserved = sum(max(one["bytes_max"], 0) for one in kept if one["storage"] == "file")
    if not 2 * 2**30 < reserved <= 3 * 2**30:
        complain(f"the streams reserve {reserved} bytes, and the chart takes 3Gi for enough")


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
    """The chart knows each setting of the binary, and its table says what the binary does."""
    own = yaml.safe_load((CHART / "files/own.yaml").read_text())
    forms = FORMS["settings"]
    for name in (set(own) - set(forms)) | (set(forms) ^ SETTINGS):
        complain(f"{name} is in one of files/own.yaml, files/settings.yaml and the binary only")
    for name, form in forms.items():
        # Of a number of requests in a time only the time has a range.
        if name not in own and "least" in form and "/" not in form["pattern"]:
            check_range(name, form)
    for name, texts in WRONG.items():
        for text in texts:
            if takes(name, text):
                complain(f"the binary takes {name} = {text!r}, and the chart refuses it")


def takes(name, text):
    """Whether the binary takes a value of a setting."""
    # A session lasts at least as long as its token: this holds for each time that is tried.
    given = {"STAUNCH_REFRESH_TOKEN_TIME": "720h"} if name == "access-token-time" else {}
    given |= {"STAUNCH_ACCESS_TOKEN_TIME": "1ms"} if name == "refresh-token-time" else {}
    given["STAUNCH_" + name.upper().replace("-", "_")] = text
    ran = subprocess.run([STAUNCH, "config"], capture_output=True, text=True, env=given, cwd="/")
    return ran.returncode == 0


def check_range(name, form):
    """The binary takes the ends of a range, and nothing beyond; without an end it takes much."""
    least, most = form["least"], form.get("most")
    is_time = re.search(r"[a-z]", least) is not None
    amount = lambda text: int(re.match(r"\d+", text)[0]) * UNITS.get(re.sub(r"\d+", "", text), 1)
    text = lambda number: f"{number}ms" if is_time else str(number)
    wanted = [(least, True), (text(amount(least) - 1), False)]
    wanted += [(most, True), (text(amount(most) + 1), False)] if most else []
    wanted += [("10000d" if is_time else "1000000000", True)] if not most else []
    for value, is_taken in wanted:
        if takes(name, value) != is_taken:
            complain(f"{name}: the chart has the range {least} to {most}, and {value} is one more")


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
FORMS = yaml.safe_load((CHART / "files/settings.yaml").read_text())
check_settings()
check_chart()
check_addresses()
check_accounts()
check_names()
check_storage()
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
