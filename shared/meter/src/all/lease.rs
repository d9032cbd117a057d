//! Leases: who works on an instance.

crate::declare::meters! {
    group LEASE_METERS;
    Histogram LEASE_WAIT = "staunch_lease_wait_seconds" in Seconds
        { contended: ["false", "true"] }
        "From the request for a lease to its acquisition; `contended`: another node had it. `histogram_quantile` gives p50, p95, p99; the share of `contended=\"true\"` is the contention",
        "p99 below 0.1 s; contention only where several nodes get commands of one instance",
        "NATS is slow (`staunch_nats_round_trip_seconds`), or one instance gets too many commands";
    Histogram LEASE_HOLD = "staunch_lease_hold_seconds" in Seconds {}
        "From the acquisition of a lease to its release",
        "p99 below 1 s, longer with calls of workflows",
        "slow commits or calls within the burst";
    Counter LEASE_FAILURES = "staunch_lease_failures_total" in Count
        { why: ["held", "unavailable"] }
        "Leases that could not be taken: another node kept it for the whole wait, or NATS did not answer",
        "0",
        "`held`: the log line `lease busy` names the holder; `unavailable`: see NATS";
    Counter LEASE_LOSSES = "staunch_lease_losses_total" in Count {}
        "Leases lost while they were held",
        "0 but when a node was frozen or cut off",
        "nodes without processor time, or `lease-ttl` too short for the latency to NATS";
    Counter COMMIT_CONFLICTS = "staunch_commit_conflicts_total" in Count {}
        "Bursts thrown away because another writer had changed the instance: the version check of the commit",
        "near 0",
        "follows lost leases; nothing is wrong with the data";
}
