//! The cluster as a whole. One node counts at a time.

crate::declare::meters! {
    group CLUSTER_METERS;
    Gauge NODES_LIVE = "staunch_nodes_live" in Count {}
        "Live nodes, as this node sees them",
        "the number of nodes that were started, the same on each",
        "see the alert StaunchNodeDown";
    Gauge NODES = "staunch_nodes" in Count
        { role: ["ingress", "executor", "timer", "cache-notifier"] }
        "Live nodes with a role, as this node sees them",
        "1 or more of each role",
        "see the alert StaunchRoleMissing";
    Gauge NODE_CUT_OFF = "staunch_node_cut_off" in Truth {}
        "This node could not renew its presence: it starts nothing new",
        "0",
        "as `staunch_nats_connected`";
    Gauge CLUSTER_PAUSED = "staunch_cluster_paused" in Truth {}
        "The whole cluster is paused by an operator: no commands are taken; as nodes with the roles ingress or executor see it",
        "0",
        "`staunch runtime status` says since when and why; `staunch runtime resume`";
    Gauge NODE_PAUSED = "staunch_node_paused" in Truth {}
        "This node, or the whole cluster, is paused by an operator",
        "0",
        "`staunch runtime resume --node N`";
    Gauge CLUSTER_OBSERVER = "staunch_cluster_observer" in Truth {}
        "This node counts the figures of the whole cluster that follow",
        "1 on one node",
        "0 on all nodes: none of them sees itself as live";
    Gauge CLUSTER_INSTANCES = "staunch_cluster_instances" in Count
        { status: ["Pending", "Executing", "Suspended"] }
        "Instances that have not ended: the active ones. Counted by an index about every 30 s, up to 1,000,000 for each status",
        "`Pending` and `Executing` near 0 without load",
        "`Pending` grows: too few executors; `Suspended` grows for ever: workflows wait for what never comes";
    Gauge CLUSTER_TIMERS_PENDING = "staunch_cluster_timers_pending" in Count {}
        "Waits of instances with a due time, up to 1,000,000",
        "–",
        "–";
    Gauge CLUSTER_TIMERS_OVERDUE = "staunch_cluster_timers_overdue" in Count {}
        "Those of them that have been due for more than 10 s",
        "0",
        "see the alert StaunchTimersLate";
    Gauge CLUSTER_SCHEDULES = "staunch_cluster_schedules" in Count {}
        "Schedules of published definitions that will fire again",
        "–",
        "–";
    Gauge CLUSTER_OUTBOX = "staunch_cluster_outbox" in Count {}
        "Messages that are committed and not yet known to be published",
        "near 0",
        "NATS refuses messages, or no node sweeps (role timer)";
    Gauge CLUSTER_COMMANDS_KEPT = "staunch_cluster_commands_kept" in Count {}
        "Accepted commands that are not applied yet, those that came early among them",
        "near 0",
        "their instances do not exist or do not wait for them; `staunch why ID`";
    Gauge CLUSTER_CONSUMER = "staunch_cluster_consumer" in Count
        { commands: ["pending", "in hand", "redelivered"] }
        "The lag of the executors' consumer: commands not yet delivered, delivered and not answered, delivered again",
        "`pending` near 0",
        "see the alert StaunchBacklog";
    Gauge CLUSTER_STREAM_MESSAGES = "staunch_cluster_stream_messages" in Count
        { stream: ["STAUNCH_COMMANDS", "STAUNCH_EVENTS", "STAUNCH_TASKS", "STAUNCH_DEAD"] }
        "Messages in a stream; `STAUNCH_DEAD` holds the dead letters, `STAUNCH_TASKS` the work that waits for workers",
        "`STAUNCH_DEAD`: 0; `STAUNCH_COMMANDS`: near 0",
        "`staunch dead ls`; workers that are away leave tasks behind";
    Gauge CLUSTER_STREAM_BYTES = "staunch_cluster_stream_bytes" in Bytes
        { stream: ["STAUNCH_COMMANDS", "STAUNCH_EVENTS", "STAUNCH_TASKS", "STAUNCH_DEAD"] }
        "Bytes in a stream; its limit is in `nats/topology.toml`",
        "below the limit; a full `STAUNCH_COMMANDS` refuses starts",
        "more executors or workers, or a larger limit";
    Counter OBSERVATIONS_FAILED = "staunch_observations_failed_total" in Count
        { what: ["nats", "database", "streams", "counts", "pauses", "clock"] }
        "Observations behind these figures that failed; the figures are older then",
        "0",
        "the server in question does not answer";
}
