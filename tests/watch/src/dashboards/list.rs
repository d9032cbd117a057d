//! The panels.

use super::Query::{Count, Max, Other, Rate, Sum, Times};
use super::{Dashboard, Panel, Row};

const fn panel(title: &'static str, unit: &'static str, queries: &'static [super::Query]) -> Panel {
    Panel { title, unit, queries }
}

pub(super) const DASHBOARDS: &[Dashboard] = &[
    Dashboard {
        name: "overview",
        title: "Staunch: overview",
        rows: &[
            Row {
                title: "Work",
                panels: &[
                    panel(
                        "Instances that reach a status",
                        "ops",
                        &[Rate("staunch_instances_total", &["status"])],
                    ),
                    panel(
                        "Active instances",
                        "short",
                        &[Max("staunch_cluster_instances", &["status"])],
                    ),
                    panel(
                        "From creation to end",
                        "s",
                        &[Times("staunch_workflow_duration_seconds")],
                    ),
                    panel(
                        "Commands that wait",
                        "short",
                        &[
                            Max("staunch_cluster_consumer", &["commands"]),
                            Max("staunch_queue_backlog", &[]),
                        ],
                    ),
                    panel(
                        "HTTP requests",
                        "ops",
                        &[Count("staunch_http_request_duration_seconds", &["status"])],
                    ),
                    panel(
                        "Timers",
                        "short",
                        &[
                            Max("staunch_cluster_timers_pending", &[]),
                            Max("staunch_cluster_timers_overdue", &[]),
                            Max("staunch_cluster_schedules", &[]),
                        ],
                    ),
                ],
            },
            Row {
                title: "Nodes",
                panels: &[
                    panel(
                        "Live nodes",
                        "short",
                        &[Max("staunch_nodes_live", &[]), Max("staunch_nodes", &["role"])],
                    ),
                    panel(
                        "Cut off, paused",
                        "short",
                        &[
                            Sum("staunch_node_cut_off", &[]),
                            Sum("staunch_node_paused", &[]),
                            Max("staunch_cluster_paused", &[]),
                            Sum("staunch_cluster_observer", &[]),
                        ],
                    ),
                    panel(
                        "Versions",
                        "short",
                        &[Sum("staunch_build_info", &["version", "commit"])],
                    ),
                    panel(
                        "Up since",
                        "s",
                        &[Other(
                            "time() - max by (instance) (staunch_start_time_seconds{instance=~\"$instance\"})",
                            "{{instance}}",
                        )],
                    ),
                    panel(
                        "Streams: messages",
                        "short",
                        &[Max("staunch_cluster_stream_messages", &["stream"])],
                    ),
                    panel(
                        "Streams: bytes",
                        "bytes",
                        &[Max("staunch_cluster_stream_bytes", &["stream"])],
                    ),
                ],
            },
            Row {
                title: "Faults: all of these are 0",
                panels: &[
                    panel("Dead letters", "ops", &[Rate("staunch_dead_letters_total", &["why"])]),
                    panel(
                        "Tasks and requests that panicked",
                        "ops",
                        &[
                            Rate("staunch_task_panics_total", &[]),
                            Rate("staunch_task_restarts_total", &[]),
                            Rate("staunch_http_requests_panicked_total", &[]),
                        ],
                    ),
                    panel(
                        "Left behind, and swept up",
                        "ops",
                        &[
                            Rate("staunch_unpublished_total", &[]),
                            Rate("staunch_http_accepted_unpublished_total", &[]),
                            Rate("staunch_sweep_mended_total", &["what"]),
                        ],
                    ),
                    panel(
                        "The sweep",
                        "ops",
                        &[
                            Rate("staunch_sweep_failed_steps_total", &["step"]),
                            Rate("staunch_rows_unreadable_total", &["table"]),
                            Rate("staunch_retention_removed_total", &["what"]),
                        ],
                    ),
                    panel(
                        "Committed and not published, accepted and not applied",
                        "short",
                        &[
                            Max("staunch_cluster_outbox", &[]),
                            Max("staunch_cluster_commands_kept", &[]),
                        ],
                    ),
                    panel(
                        "Observations that failed",
                        "ops",
                        &[Rate("staunch_observations_failed_total", &["what"])],
                    ),
                ],
            },
        ],
    },
    Dashboard {
        name: "engine",
        title: "Staunch: engine",
        rows: &[
            Row {
                title: "Bursts",
                panels: &[
                    panel(
                        "Bursts",
                        "ops",
                        &[Count("staunch_burst_duration_seconds", &["instance"])],
                    ),
                    panel("One burst", "s", &[Times("staunch_burst_duration_seconds")]),
                    panel(
                        "Commands in hand",
                        "short",
                        &[Sum("staunch_commands_in_hand", &["instance"])],
                    ),
                    panel(
                        "Sent back, delivered again, stalled",
                        "ops",
                        &[
                            Rate("staunch_retries_total", &[]),
                            Rate("staunch_redeliveries_total", &[]),
                            Rate("staunch_pull_stalls_total", &[]),
                        ],
                    ),
                    panel("Refused", "ops", &[Rate("staunch_refusals_total", &["why"])]),
                    panel(
                        "Chains, outcomes that were cut, scripts given up",
                        "short",
                        &[
                            Rate("staunch_chained_starts_total", &["what"]),
                            Rate("staunch_outcomes_cut_total", &[]),
                            Sum("staunch_expression_threads_given_up", &[]),
                        ],
                    ),
                ],
            },
            Row {
                title: "Outgoing calls",
                panels: &[
                    panel(
                        "Calls by result",
                        "ops",
                        &[Count("staunch_call_duration_seconds", &["kind", "result"])],
                    ),
                    panel("One call", "s", &[Times("staunch_call_duration_seconds")]),
                ],
            },
            Row {
                title: "Leases",
                panels: &[
                    panel("Acquisition", "s", &[Times("staunch_lease_wait_seconds")]),
                    panel("Held for", "s", &[Times("staunch_lease_hold_seconds")]),
                    panel(
                        "Contention",
                        "percentunit",
                        &[Other(
                            "sum(rate(staunch_lease_wait_seconds_count{contended=\"true\",instance=~\"$instance\"}[$__rate_interval])) / sum(rate(staunch_lease_wait_seconds_count{instance=~\"$instance\"}[$__rate_interval]))",
                            "contended",
                        )],
                    ),
                    panel(
                        "Acquired",
                        "ops",
                        &[Count("staunch_lease_wait_seconds", &["contended"])],
                    ),
                    panel(
                        "Failed, lost",
                        "ops",
                        &[
                            Rate("staunch_lease_failures_total", &["why"]),
                            Rate("staunch_lease_losses_total", &[]),
                        ],
                    ),
                    panel(
                        "Commits in conflict",
                        "ops",
                        &[
                            Rate("staunch_commit_conflicts_total", &[]),
                            Rate("staunch_database_conflicts_total", &[]),
                        ],
                    ),
                ],
            },
            Row {
                title: "Timers",
                panels: &[
                    panel(
                        "Scheduled and fired",
                        "ops",
                        &[
                            Rate("staunch_timers_scheduled_total", &[]),
                            Rate("staunch_timers_fired_total", &["kind"]),
                        ],
                    ),
                    panel("Late by", "s", &[Times("staunch_timer_lateness_seconds")]),
                    panel("Misfired", "ops", &[Rate("staunch_timers_misfired_total", &[])]),
                    panel(
                        "Due soon, by node",
                        "short",
                        &[Sum("staunch_timers_near", &["instance"])],
                    ),
                ],
            },
            Row {
                title: "Definitions",
                panels: &[
                    panel(
                        "Announced",
                        "ops",
                        &[
                            Rate("staunch_cache_announced_total", &[]),
                            Rate("staunch_cache_incomplete_total", &[]),
                            Rate("staunch_cache_mended_total", &[]),
                        ],
                    ),
                    panel("Until every node had it", "s", &[Times("staunch_cache_spread_seconds")]),
                ],
            },
        ],
    },
    Dashboard {
        name: "servers",
        title: "Staunch: database, NATS, HTTP",
        rows: &[
            Row {
                title: "Database",
                panels: &[
                    panel("One commit", "s", &[Times("staunch_commit_duration_seconds")]),
                    panel(
                        "One transaction",
                        "s",
                        &[Times("staunch_database_transaction_duration_seconds")],
                    ),
                    panel(
                        "Transactions",
                        "ops",
                        &[Count("staunch_database_transaction_duration_seconds", &["instance"])],
                    ),
                    panel(
                        "Bursts that share a transaction",
                        "short",
                        &[Times("staunch_database_batch_size")],
                    ),
                    panel(
                        "Bursts that wait for a transaction",
                        "short",
                        &[Sum("staunch_database_jobs_queued", &["instance"])],
                    ),
                    panel(
                        "Reading instances",
                        "s",
                        &[Times("staunch_database_load_duration_seconds")],
                    ),
                    panel(
                        "Statements by table",
                        "ops",
                        &[Count(
                            "staunch_database_query_duration_seconds",
                            &["operation", "table"],
                        )],
                    ),
                    panel(
                        "One statement",
                        "s",
                        &[Times("staunch_database_query_duration_seconds")],
                    ),
                    panel("Round trip", "s", &[Times("staunch_database_round_trip_seconds")]),
                    panel(
                        "Connections",
                        "short",
                        &[
                            Sum("staunch_database_connections", &["pool", "state"]),
                            Sum("staunch_database_connections_max", &["pool"]),
                        ],
                    ),
                    panel(
                        "Wait for a connection",
                        "s",
                        &[Times("staunch_database_acquire_duration_seconds")],
                    ),
                    panel(
                        "Errors, repetitions",
                        "ops",
                        &[
                            Rate("staunch_database_errors_total", &["kind"]),
                            Rate("staunch_database_retries_total", &[]),
                            Rate("staunch_database_splits_total", &[]),
                            Rate("staunch_database_overloaded_total", &[]),
                        ],
                    ),
                ],
            },
            Row {
                title: "NATS",
                panels: &[
                    panel("Round trip", "s", &[Times("staunch_nats_round_trip_seconds")]),
                    panel(
                        "Connected",
                        "short",
                        &[Other(
                            "min by (instance, connection) (staunch_nats_connected{instance=~\"$instance\"})",
                            "{{instance}} {{connection}}",
                        )],
                    ),
                    panel(
                        "Reconnects, errors",
                        "ops",
                        &[
                            Rate("staunch_nats_reconnects_total", &["connection"]),
                            Rate("staunch_nats_errors_total", &["connection"]),
                            Rate("staunch_nats_slow_consumers_total", &["connection"]),
                            Rate("staunch_presence_renewals_failed_total", &[]),
                        ],
                    ),
                ],
            },
            Row {
                title: "HTTP",
                panels: &[
                    panel(
                        "Requests by route",
                        "ops",
                        &[Count("staunch_http_request_duration_seconds", &["method", "route"])],
                    ),
                    panel("One request", "s", &[Times("staunch_http_request_duration_seconds")]),
                    panel(
                        "Clocks apart, certificates",
                        "s",
                        &[
                            Sum("staunch_clock_apart_seconds", &["instance"]),
                            Other(
                                "min by (setting) (staunch_certificate_expires_time_seconds{instance=~\"$instance\"})",
                                "{{setting}}",
                            ),
                        ],
                    ),
                    panel("Refused", "ops", &[Rate("staunch_http_requests_refused_total", &[])]),
                    panel(
                        "Tokens of the issuer",
                        "ops",
                        &[
                            Rate("staunch_oidc_tokens_refused_total", &["reason"]),
                            Rate("staunch_oidc_keys_fetched_total", &["ok"]),
                        ],
                    ),
                ],
            },
        ],
    },
];
