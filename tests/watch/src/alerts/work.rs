//! Alerts about the work: commands, timers, workflows, leases, faults of the program.

use super::{Alert, Test};

pub(super) const ALERTS: &[Alert] = &[
    Alert {
        name: "StaunchBacklog",
        severity: "warning",
        expr: r#"max(staunch_cluster_consumer{commands="pending"}) > 1000"#,
        hold: "5m",
        summary: "Commands wait for executors",
        means: "Commands come faster than executors apply them, or executors stand still. From \
                `max-backlog` on, ingress answers 503.",
        look: &[
            "is the cluster paused? `staunch runtime status`",
            "`staunch_commands_in_hand` at its limit: more executors help; near 0: they stand still, \
             see their log",
            "`staunch_commit_duration_seconds`: more executors do not help a slow database",
            "`staunch top`: which definitions are started most",
        ],
        act: "Start another executor, or mend what they wait for.",
        test: Test {
            series: &[(
                r#"staunch_cluster_consumer{commands="pending",instance="a"}"#,
                "0 5000x20",
            )],
            at: "10m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchDeadLetters",
        severity: "warning",
        expr: "sum by (why) (increase(staunch_dead_letters_total[10m])) > 0",
        hold: "0s",
        summary: "Commands were moved to the dead letters",
        means: "A command could not be applied and nobody else was there to be told: a timer of an \
                instance that is gone, an unreadable message, a command that took its process down.",
        look: &[
            "`staunch dead ls`: each with its reason",
            "`staunch why INSTANCE`: what its instance waits for",
        ],
        act: "Mend the reason, then `staunch dead replay NUMBER`, or `staunch dead rm NUMBER`. A message \
              that a workflow listens to (its subject is none of `staunch.`) is no command: publish it again on its \
              own subject, then `staunch dead rm NUMBER`. They are kept for 30 days.",
        test: Test {
            series: &[(r#"staunch_dead_letters_total{why="dead",instance="a"}"#, "0 0 2x10")],
            at: "4m",
            labels: &[("why", "dead")],
        },
    },
    Alert {
        name: "StaunchTimersLate",
        severity: "critical",
        expr: "max(staunch_cluster_timers_overdue) > 0",
        hold: "2m",
        summary: "Timers are overdue by more than 10 s",
        means: "No node fires them: no node has the role timer, or its shards are stuck, or their \
                commands wait behind a backlog.",
        look: &[
            "`staunch_nodes{role=\"timer\"}`, and StaunchBacklog",
            "the log of the timer nodes: `a timer could not be fired`",
            "`staunch why INSTANCE` of one of them: `GET /elsa/api/workflow-instances/ID/bookmarks` has \
             its due time",
            "paused instances: their timers fire late, at once after `unpause`",
        ],
        act: "Start a timer node, or mend what it waits for. Nothing is lost: they fire late.",
        test: Test {
            series: &[(r#"staunch_cluster_timers_overdue{instance="a"}"#, "0 3x10")],
            at: "5m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchMisfires",
        severity: "warning",
        expr: "sum(increase(staunch_timers_misfired_total[10m])) > 0",
        hold: "0s",
        summary: "Occurrences of schedules were passed over",
        means: "No timer node was there when they were due, and their misfire policy leaves them out.",
        look: &[
            "the log: `occurrences were missed` names the schedule",
            "when were the timer nodes away?",
        ],
        act: "Start by hand what has to be done. `--misfire` decides what happens the next time.",
        test: Test {
            series: &[("staunch_timers_misfired_total", "0 0 4x10")],
            at: "4m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchWorkflowsFault",
        severity: "warning",
        expr: "sum(rate(staunch_instances_total{status=\"Faulted\"}[10m])) > 0.1 * \
               sum(rate(staunch_instances_total{status=~\"Finished|Faulted|Cancelled\"}[10m]))",
        hold: "5m",
        summary: "More than a tenth of the instances fail",
        means: "Workflows end by an incident: a call that is refused, an expression that fails, a limit.",
        look: &[
            "`staunch instance ls --status Faulted`, then `staunch why INSTANCE`",
            "`staunch_call_duration_seconds` by result: is another system away?",
            "what was published last",
        ],
        act: "Mend the reason, then run the faulted activities again: `staunch instance retry ID`, or \
              a plan for many.",
        test: Test {
            series: &[
                (r#"staunch_instances_total{status="Faulted"}"#, "0+60x30"),
                (r#"staunch_instances_total{status="Finished"}"#, "0+60x30"),
            ],
            at: "20m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchCallsFail",
        severity: "warning",
        expr: "sum by (kind) (rate(staunch_call_duration_seconds_count{result=~\"timeout|connect|failed\"}\
               [10m])) > 0.5 * sum by (kind) (rate(staunch_call_duration_seconds_count[10m]))",
        hold: "5m",
        summary: "Most outgoing calls of a kind fail",
        means: "The other side, or the way to it, is gone.",
        look: &[
            "the incidents of instances that call it",
            "names and proxies of the nodes' network",
        ],
        act: "Mend it; workflows with a retry policy go on by themselves.",
        test: Test {
            series: &[
                (r#"staunch_call_duration_seconds_count{kind="http",result="connect"}"#, "0+60x30"),
                (r#"staunch_call_duration_seconds_count{kind="http",result="response"}"#, "0+6x30"),
            ],
            at: "20m",
            labels: &[("kind", "http")],
        },
    },
    Alert {
        name: "StaunchLeasesSlow",
        severity: "warning",
        expr: "histogram_quantile(0.99, sum by (le) (rate(staunch_lease_wait_seconds_bucket[5m]))) > 0.5",
        hold: "5m",
        summary: "Leases on instances are slow to get",
        means: "NATS is slow, or several nodes want the same instances.",
        look: &[
            "`staunch_lease_wait_seconds` by `contended`: `true` is contention, `false` is NATS",
            "`staunch_lease_hold_seconds`: how long others keep them",
            "the log line `lease busy` names instance and holder",
        ],
        act: "For contention: fewer commands for one instance. For NATS: see StaunchNatsSlow.",
        test: Test {
            series: &[
                (r#"staunch_lease_wait_seconds_bucket{contended="true",le="0.5"}"#, "0x30"),
                (r#"staunch_lease_wait_seconds_bucket{contended="true",le="1"}"#, "0+60x30"),
                (r#"staunch_lease_wait_seconds_bucket{contended="true",le="+Inf"}"#, "0+60x30"),
            ],
            at: "15m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchLeasesLost",
        severity: "warning",
        expr: "sum by (instance) (increase(staunch_lease_losses_total[10m])) > 0",
        hold: "0s",
        summary: "A node lost leases while it worked",
        means: "The node did not renew them in time. Another node has done the work; the version check \
                of the commit kept the data right.",
        look: &[
            "processor time of the node: was it frozen or overloaded?",
            "its round trip to NATS",
        ],
        act: "Give it processor time; a longer `lease-ttl` where the latency is high.",
        test: Test {
            series: &[(r#"staunch_lease_losses_total{instance="a"}"#, "0 0 2x10")],
            at: "4m",
            labels: &[("instance", "a")],
        },
    },
    Alert {
        name: "StaunchTaskPanics",
        severity: "warning",
        expr: "sum by (instance) (increase(staunch_task_panics_total[10m])) > 0 or \
               sum by (instance) (increase(staunch_http_requests_panicked_total[10m])) > 0",
        hold: "0s",
        summary: "A task or a request of a node panicked",
        means: "A fault of this program. The task runs again, and the work is repeated.",
        look: &["the log: `a task panicked` with its name and place", "does it come again?"],
        act: "Report it with a `staunch support-bundle`.",
        test: Test {
            series: &[(r#"staunch_task_panics_total{instance="a",task="sweep"}"#, "0 0 1x10")],
            at: "4m",
            labels: &[("instance", "a")],
        },
    },
    Alert {
        name: "StaunchRowsUnreadable",
        severity: "warning",
        expr: "sum by (table) (increase(staunch_rows_unreadable_total[10m])) > 0",
        hold: "0s",
        summary: "Rows of the database could not be read and were moved aside",
        means: "A newer version wrote them, somebody changed them by hand, or the database is damaged.",
        look: &["the log names each row", "the versions of the nodes: StaunchVersionsDiffer"],
        act: "Finish the update; restore damaged rows from a backup.",
        test: Test {
            series: &[(r#"staunch_rows_unreadable_total{table="outbox"}"#, "0 0 1x10")],
            at: "4m",
            labels: &[("table", "outbox")],
        },
    },
    Alert {
        name: "StaunchSweepFails",
        severity: "warning",
        expr: "sum by (step) (increase(staunch_sweep_failed_steps_total[10m])) > 3",
        hold: "10m",
        summary: "The sweep keeps failing",
        means: "What crashes leave behind stays: unpublished messages, starts that nobody runs.",
        look: &["the log of the timer nodes at debug: `a step of the sweep failed`"],
        act: "Mend the database or NATS, as the error says.",
        test: Test {
            series: &[(r#"staunch_sweep_failed_steps_total{step="outbox"}"#, "0+1x40")],
            at: "30m",
            labels: &[("step", "outbox")],
        },
    },
    Alert {
        name: "StaunchOutboxGrows",
        severity: "warning",
        expr: "max(staunch_cluster_outbox) > 1000",
        hold: "5m",
        summary: "Committed messages are not published",
        means: "NATS refuses them, or is away, and the sweep does not get through.",
        look: &[
            "`staunch_unpublished_total`, `staunch_sweep_failed_steps_total`",
            "is a stream full? `nats stream report`",
            "has a type of tasks no workers? `staunch worker ls`: its tasks stay in the outbox once it has its share of the stream",
            "is there a node with the role timer? It sweeps.",
        ],
        act: "Mend NATS, or start the workers; the sweep publishes all of it.",
        test: Test { series: &[("staunch_cluster_outbox", "0 4000x20")], at: "10m", labels: &[] },
    },
    Alert {
        name: "StaunchStreamFull",
        severity: "warning",
        expr: "max(staunch_cluster_stream_bytes{stream=\"STAUNCH_COMMANDS\"}) > 0.8 * 1073741824",
        hold: "0s",
        summary: "The stream of commands is 80 % full",
        means: "When it is full, starts and resumes are refused. Nothing is dropped.",
        look: &["as for StaunchBacklog", "large inputs: `nats stream info STAUNCH_COMMANDS`"],
        act: "Start executors; or raise its `max_bytes` (`nats stream edit`).",
        test: Test {
            series: &[(
                r#"staunch_cluster_stream_bytes{stream="STAUNCH_COMMANDS"}"#,
                "0 1000000000x10",
            )],
            at: "4m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchRefusesWork",
        severity: "warning",
        expr: "sum by (instance) (increase(staunch_http_requests_refused_total[5m])) > 0",
        hold: "5m",
        summary: "A node refuses requests because there is too much to do",
        means: "The backlog or the database's queue is full, or callers exceed a limit of the rate. \
                They get 503 or 429 with Retry-After.",
        look: &["StaunchBacklog, StaunchDatabaseSlow", "the `limit-*` settings: `staunch config`"],
        act: "As for the alert that fires with it; else a higher limit.",
        test: Test {
            series: &[(r#"staunch_http_requests_refused_total{instance="a"}"#, "0+5x30")],
            at: "15m",
            labels: &[("instance", "a")],
        },
    },
    Alert {
        name: "StaunchHttpErrors",
        severity: "warning",
        expr: "sum(rate(staunch_http_request_duration_seconds_count{status=~\"5..\"}[5m])) > 0.05 * \
               sum(rate(staunch_http_request_duration_seconds_count[5m]))",
        hold: "5m",
        summary: "More than one answer of twenty is an error of the server",
        means: "503: NATS, the database or the executors; 500: a fault of this program.",
        look: &[
            "`/health/ready` of each node",
            "the log: `answered` with the status and the trace",
        ],
        act: "As the health checks say; for 500 report it with the trace.",
        test: Test {
            series: &[
                (r#"staunch_http_request_duration_seconds_count{status="503"}"#, "0+60x30"),
                (r#"staunch_http_request_duration_seconds_count{status="200"}"#, "0+60x30"),
            ],
            at: "15m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchPaused",
        severity: "warning",
        expr: "max(staunch_cluster_paused) == 1",
        hold: "30m",
        summary: "The cluster has been paused for half an hour",
        means: "An operator has paused it; commands wait until the stream is full.",
        look: &["`staunch runtime status`: since when, by whom and why"],
        act: "`staunch runtime resume`.",
        test: Test { series: &[("staunch_cluster_paused", "0 1x60")], at: "40m", labels: &[] },
    },
    Alert {
        name: "StaunchVersionsDiffer",
        severity: "warning",
        expr: "count(count by (version, commit) (staunch_build_info)) > 1",
        hold: "1h",
        summary: "Nodes of different versions have run for an hour",
        means: "A rolling update did not come to its end. One version apart works; more does not.",
        look: &["`staunch_build_info` by node"],
        act: "Finish the update, or take it back.",
        test: Test {
            series: &[
                (r#"staunch_build_info{version="1.0.0",commit="",node="a"}"#, "1x90"),
                (r#"staunch_build_info{version="1.1.0",commit="",node="b"}"#, "_ 1x90"),
            ],
            at: "80m",
            labels: &[],
        },
    },
    Alert {
        name: "StaunchNobodyCounts",
        severity: "warning",
        expr: "max(staunch_cluster_observer) == 0",
        hold: "2m",
        summary: "No node counts the figures of the cluster",
        means: "The figures `staunch_cluster_*` are 0 and the alerts on them cannot fire: each node sees \
                another one as the first, or all are cut off.",
        look: &[
            "`staunch_nodes_live` by node: do they agree?",
            "is every node of the cluster scraped?",
        ],
        act: "Mend NATS, or add the missing nodes to Prometheus.",
        test: Test {
            series: &[(r#"staunch_cluster_observer{instance="a"}"#, "1 0x10")],
            at: "5m",
            labels: &[],
        },
    },
];
