//! Alerts about nodes, NATS and the database.

use super::{Alert, Test};

pub(super) const ALERTS: &[Alert] = &[
    Alert {
        name: "StaunchNodeDown",
        severity: "critical",
        expr: r#"up{job=~".*staunch.*"} == 0"#,
        hold: "1m",
        summary: "A node of Staunch does not answer",
        means: "Prometheus cannot scrape the node: its process has ended, or its machine or network is \
                gone. The others have taken its instances over within the lease's time; nothing is \
                lost. With fewer nodes there is less room for the next failure.",
        look: &[
            "the last lines of the node's log: it says why it ended",
            "`staunch doctor --server http://OTHER-NODE`: the live nodes, as the cluster sees them",
            "memory and restarts of its container: exit code 137 is the kernel's or the platform's",
        ],
        act: "Start it again. If it ends again, keep the log (`staunch support-bundle`) and take it out \
              of the balancer.",
        test: Test {
            series: &[(r#"up{job="staunch",instance="a:5002"}"#, "1 0x10")],
            at: "5m",
            labels: &[("job", "staunch"), ("instance", "a:5002")],
        },
    },
    Alert {
        name: "StaunchNoNode",
        severity: "critical",
        expr: r#"absent(up{job=~".*staunch.*"} == 1)"#,
        hold: "1m",
        summary: "No node of Staunch answers",
        means: "Nothing runs, or Prometheus cannot reach any node. What was accepted waits in the \
                database and in NATS.",
        look: &[
            "the log of a node: without NATS or the database it does not start",
            "the way from Prometheus to the nodes, and its API key",
        ],
        act: "Bring NATS and the database back first, then the nodes; what is overdue is done at once.",
        test: Test {
            series: &[(r#"up{job="staunch",instance="a:5002"}"#, "1 0x10")],
            at: "5m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchRoleMissing",
        severity: "critical",
        expr: "max by (role) (staunch_nodes) == 0",
        hold: "1m",
        summary: "No live node has a role",
        means: "Without `executor` no command is applied, without `timer` no timer fires and nothing is \
                swept up, without `ingress` nobody can start anything by HTTP, without `cache-notifier` \
                no node learns of a new version: starts run the one before. What is accepted waits and \
                is done later.",
        look: &[
            "the roles of the nodes: `GET /elsa/api/nodes`",
            "the log of the nodes that had the role",
        ],
        act: "Start a node with the role; overdue timers fire at once.",
        test: Test {
            series: &[
                (r#"staunch_nodes{role="timer",instance="a"}"#, "1 0x10"),
                (r#"staunch_nodes{role="executor",instance="a"}"#, "1x10"),
            ],
            at: "5m",
            labels: &[("role", "timer")],
        },
    },
    Alert {
        name: "StaunchNodeCutOff",
        severity: "critical",
        expr: "staunch_node_cut_off == 1",
        hold: "30s",
        summary: "A node is cut off from the others and starts nothing new",
        means: "The node could not renew its presence for 3 s: the others count it as gone, and it keeps \
                off their work until it is back.",
        look: &[
            "`staunch_nats_connected` and `staunch_nats_round_trip_seconds` of the node",
            "its log: `this node's presence could not be renewed`",
            "processor time of the node: a frozen process is cut off, too",
        ],
        act: "Mend its way to NATS. It joins again by itself.",
        test: Test {
            series: &[(r#"staunch_node_cut_off{instance="a"}"#, "0 1x10")],
            at: "3m",
            labels: &[("instance", "a")],
        },
    },
    Alert {
        name: "StaunchNatsDisconnected",
        severity: "critical",
        expr: "min by (instance) (staunch_nats_connected) == 0",
        hold: "30s",
        summary: "A node has no connection to NATS",
        means: "The node takes no commands; the database keeps the starts that it accepts. Instances of other \
                nodes go on.",
        look: &[
            "the nats-servers: `nats server list`, their logs",
            "`staunch doctor`: the address, the login and the certificate that the node uses",
        ],
        act: "Bring the server or the network back. The node reconnects by itself; do not restart it.",
        test: Test {
            series: &[
                (r#"staunch_nats_connected{connection="data",instance="a"}"#, "1x10"),
                (r#"staunch_nats_connected{connection="control",instance="a"}"#, "1 0x10"),
            ],
            at: "3m",
            labels: &[("instance", "a")],
        },
    },
    Alert {
        name: "StaunchNatsSlow",
        severity: "warning",
        expr: "histogram_quantile(0.99, sum by (le, instance) \
               (rate(staunch_nats_round_trip_seconds_bucket[5m]))) > 0.25",
        hold: "5m",
        summary: "NATS answers a node slowly",
        means: "Leases, starts and answers are as slow. Above a third of `lease-ttl` leases get lost.",
        look: &[
            "`staunch doctor`: the round trip from this node and from another",
            "the disk of the nats-servers: JetStream answers when it has written",
        ],
        act: "Faster disks or a nearer server; across regions a longer `lease-ttl` and `ack-wait`.",
        test: Test {
            series: &[
                (r#"staunch_nats_round_trip_seconds_bucket{instance="a",le="0.25"}"#, "0x30"),
                (r#"staunch_nats_round_trip_seconds_bucket{instance="a",le="0.5"}"#, "0+6x30"),
                (r#"staunch_nats_round_trip_seconds_bucket{instance="a",le="+Inf"}"#, "0+6x30"),
            ],
            at: "15m",
            labels: &[("instance", "a")],
        },
    },
    Alert {
        name: "StaunchDatabaseDown",
        severity: "critical",
        expr: r#"increase(staunch_observations_failed_total{what="database"}[2m]) > 0"#,
        hold: "30s",
        summary: "The database does not answer a node",
        means: "No burst can be committed: commands wait in NATS, and so do the starts that it accepts. \
                Nothing that was answered is lost.",
        look: &[
            "the database server and its log; its number of connections",
            "`staunch_database_errors_total` by kind: `connection`, `pool`, `full`, `read only`",
            "`staunch doctor`: what the database says",
        ],
        act: "Bring the database back, or promote its replica and point `database-url` there. Nodes \
              reconnect by themselves.",
        test: Test {
            series: &[(
                r#"staunch_observations_failed_total{what="database",instance="a"}"#,
                "0 0 1+2x10",
            )],
            at: "5m",
            labels: &[("what", "database"), ("instance", "a")],
        },
    },
    Alert {
        name: "StaunchDatabaseSlow",
        severity: "warning",
        expr: "histogram_quantile(0.99, sum by (le) (rate(staunch_commit_duration_seconds_bucket[5m]))) \
               > 0.5",
        hold: "5m",
        summary: "Commits are slow",
        means: "Every burst waits for its commit; the throughput falls and leases are held for longer.",
        look: &[
            "`staunch_database_transaction_duration_seconds`: the database itself; \
             `staunch_database_jobs_queued`: the wait before it",
            "slow statements and locks in the database (`pg_stat_activity`, `pg_stat_statements`)",
            "the disk: a commit waits for it",
        ],
        act: "End what blocks; a faster disk; retention, if the tables have grown beyond memory.",
        test: Test {
            series: &[
                (r#"staunch_commit_duration_seconds_bucket{le="0.5"}"#, "0x30"),
                (r#"staunch_commit_duration_seconds_bucket{le="1"}"#, "0+60x30"),
                (r#"staunch_commit_duration_seconds_bucket{le="+Inf"}"#, "0+60x30"),
            ],
            at: "15m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchDatabaseErrors",
        severity: "warning",
        expr: "sum by (kind) (increase(staunch_database_errors_total{kind=~\
               \"deadlock|lock|pool|resources|full|read only|corrupt|schema\"}[5m])) > 0",
        hold: "1m",
        summary: "The database reports errors that do not pass by themselves",
        means: "`pool`: no connection became free in time. `deadlock`, `lock`: another program writes to \
                Staunch's tables. `full`: the disk. `read only`: the node writes to a replica. \
                `resources`: connections or memory of the server. `schema`, `corrupt`: the tables are \
                not what this version expects.",
        look: &[
            "the log: each error has its text",
            "`staunch_database_connections` against its maximum",
        ],
        act: "As the kind says. For `schema`: `staunch migrate --check`.",
        test: Test {
            series: &[(r#"staunch_database_errors_total{kind="pool"}"#, "0 0 3x10")],
            at: "5m",
            labels: &[("kind", "pool")],
        },
    },
    Alert {
        name: "StaunchClockApart",
        severity: "warning",
        expr: "staunch_clock_apart_seconds > 5",
        hold: "1m",
        summary: "The clock of a node's machine is apart from the database's",
        means: "Timers, delays and times of records follow the database's clock, so they are right. The \
                node's log, its traces and what it compares with certificates and tokens of an issuer \
                are not.",
        look: &[
            "`staunch doctor` on that machine and on another: which of the two clocks is wrong",
            "the time service of the machine: `timedatectl`, `chronyc tracking`",
        ],
        act: "Synchronise the clock (NTP). The node needs no restart.",
        test: Test {
            series: &[(r#"staunch_clock_apart_seconds{instance="a"}"#, "0 3600x10")],
            at: "5m",
            labels: &[("instance", "a")],
        },
    },
    Alert {
        name: "StaunchCertificateExpires",
        severity: "warning",
        expr: "(staunch_certificate_expires_time_seconds > 0) - time() < 14 * 86400",
        hold: "5m",
        summary: "A certificate of a node expires within two weeks",
        means: "After that no new connection is made with it: callers refuse the node's HTTP server \
                (`tls-cert`), or NATS refuses the node (`nats-tls-cert`). Open connections go on.",
        look: &[
            "the label `setting`: its file on the node",
            "`staunch doctor` with the node's settings: the time at which it expires",
        ],
        act: "Replace the file, with its key. New connections use it within ten seconds; the node needs no \
              restart.",
        test: Test {
            series: &[(
                r#"staunch_certificate_expires_time_seconds{instance="a",setting="tls-cert"}"#,
                "864000x15",
            )],
            at: "10m",
            labels: &[("instance", "a"), ("setting", "tls-cert")],
        },
    },
];
