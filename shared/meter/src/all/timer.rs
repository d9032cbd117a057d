//! Timers, schedules and the sweep.

crate::declare::meters! {
    group TIMER_METERS;
    Counter TIMERS_SCHEDULED = "staunch_timers_scheduled_total" in Count {}
        "Timers and schedules that came within the window of this node",
        "as many as fire",
        "–";
    Counter TIMERS_FIRED = "staunch_timers_fired_total" in Count
        { kind: ["timer", "schedule"] }
        "Timers and occurrences of schedules fired by this node",
        "the sum over all nodes is what is due",
        "0 while timers are overdue: see the alert StaunchTimersLate";
    Counter TIMERS_MISFIRED = "staunch_timers_misfired_total" in Count {}
        "Occurrences of schedules that were passed over, as their misfire policy says",
        "0 but after all timer nodes were away",
        "how long was no node with the role timer there?";
    Histogram TIMER_LATENESS = "staunch_timer_lateness_seconds" in Seconds
        { kind: ["timer", "schedule"] }
        "From the due time to the firing, by the database's clock",
        "p99 below 0.5 s",
        "more timer nodes, or a slow database; see the alert StaunchTimersLate";
    Gauge TIMERS_NEAR = "staunch_timers_near" in Count {}
        "Timers of this node that are due soon",
        "–",
        "–";
    Counter SWEEP_MENDED = "staunch_sweep_mended_total" in Count
        { what: ["outbox", "start", "command", "waiting", "unfinished", "lost", "spent", "expired", "unreadable", "cleared"] }
        "Things that the sweep found left behind and repaired; `spent` are tasks that their consumer hands out no more, and `cleared` are rows that are of no use any more",
        "0 but after a crash, while tasks wait for room in their stream, or while calls take longer than 20 s and a workflow has thousands of commands to take; `cleared` grows with the work",
        "if it grows steadily without such work: messages get lost between the database and NATS";
    Counter SWEEP_FAILED_STEPS = "staunch_sweep_failed_steps_total" in Count
        { step: ["clock", "outbox", "start", "command", "waiting", "unfinished", "lost", "spent", "expired", "routed", "cleared", "unreadable"] }
        "Steps of the sweep that failed; the next sweep tries again",
        "0 but while NATS or the database is away",
        "the log has the error, at debug: `--log timer=debug`";
    Counter RETENTION_REMOVED = "staunch_retention_removed_total" in Count
        { what: ["finished", "cancelled", "faulted", "bookmarks", "journal", "tokens", "sessions", "requests", "audit", "letters"] }
        "What retention has removed: ended instances by their state, rows without their instance, and what has expired",
        "as many instances as end, after their time",
        "0 while old instances stay: `staunch retention run --dry-run`";
    Counter ROWS_UNREADABLE = "staunch_rows_unreadable_total" in Count
        { table: ["start", "command", "outbox", "schedule", "instance"] }
        "Rows that could not be read and were moved aside",
        "0",
        "a newer version has written them, or the database is damaged: the log names each row";
}
