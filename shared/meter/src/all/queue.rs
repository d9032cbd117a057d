//! Commands between the stream and their instance.

crate::declare::meters! {
    group QUEUE_METERS;
    Gauge COMMANDS_IN_HAND = "staunch_commands_in_hand" in Count {}
        "Commands that this executor has taken and not yet answered",
        "below `executor-concurrency`",
        "at the limit for long: more executors, or a slow database";
    Gauge QUEUE_BACKLOG = "staunch_queue_backlog" in Count {}
        "Commands stored and not acknowledged, as this executor last saw them; looked at every 10 s while it pulls",
        "near 0, falling after a peak",
        "see the alert StaunchBacklog";
    Counter PULL_STALLS = "staunch_pull_stalls_total" in Count {}
        "Times when commands waited in the stream and none was delivered here, or a pull did not end",
        "0",
        "the consumer is stuck: `nats consumer info STAUNCH_COMMANDS executor`; restart its leader";
    Counter REDELIVERIES = "staunch_redeliveries_total" in Count {}
        "Commands that were delivered again",
        "0 but after a crash, and while NATS or the database is slow",
        "if it stays: `ack-wait` is shorter than a burst takes, or nodes die";
    Counter RETRIES = "staunch_retries_total" in Count {}
        "Commands sent back to the stream for later",
        "a few while instances are contended",
        "the log says why, at debug: `--log executor=debug`";
    Counter REFUSALS = "staunch_refusals_total" in Count
        { why: ["garbled", "not found", "already done", "waiting", "still running", "ambiguous", "unfit", "not allowed", "dead"] }
        "Commands refused, with the reason for their sender",
        "what senders do wrong: `already done` for a resume that comes twice",
        "`garbled` and `unfit`: a sender has the wrong format";
    Counter DEAD_LETTERS = "staunch_dead_letters_total" in Count
        { why: ["garbled", "not found", "already done", "waiting", "still running", "ambiguous", "unfit", "not allowed", "dead"] }
        "Commands moved to the dead letters, and messages of listeners that no command could be made of",
        "0",
        "see the alert StaunchDeadLetters";
    Counter UNPUBLISHED = "staunch_unpublished_total" in Count {}
        "Messages of a committed burst that could not be published and were left to the sweep",
        "0",
        "NATS was away, or a type of tasks has its share of the stream already (`staunch worker ls`); the sweep of a timer node publishes them";
    Counter OUTCOMES_CUT = "staunch_outcomes_cut_total" in Count {}
        "Outcomes that were too large for a message and went without their output",
        "0",
        "read the output of such an instance by HTTP, or make it smaller";
    Counter CACHE_ANNOUNCED = "staunch_cache_announced_total" in Count {}
        "Changes of definitions announced to the nodes",
        "one for each publication",
        "–";
    Counter CACHE_INCOMPLETE = "staunch_cache_incomplete_total" in Count {}
        "Announcements that a live node did not confirm in time",
        "0",
        "the answer to the publication names the node; it is cut off or overloaded";
    Counter CACHE_MENDED = "staunch_cache_mended_total" in Count {}
        "Published pointers that differed from the database and were set right",
        "0 but after a crash",
        "if it grows: another cluster uses the same NATS";
    Histogram CACHE_SPREAD = "staunch_cache_spread_seconds" in Seconds {}
        "From the announcement of a change until every live node had it",
        "p99 below 0.5 s",
        "one node is slow: `staunch_nats_round_trip_seconds` by node";
}
