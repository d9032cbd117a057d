//! Instances, bursts and calls.

crate::declare::meters! {
    group WORKFLOW_METERS;
    Counter INSTANCES = "staunch_instances_total" in Count
        { status: ["Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted"] }
        "Instances that reached a status, on this node; `rate` of `Finished` is what is completed, of `Faulted` what fails",
        "`Faulted` is far below `Finished`",
        "`staunch instance ls --status Faulted`, `staunch instance get ID` shows the incident";
    Histogram WORKFLOW_DURATION = "staunch_workflow_duration_seconds" in LongSeconds
        { status: ["Finished", "Cancelled", "Faulted"] }
        "From the creation of an instance to its end, with all that it waited for",
        "what the workflows are made for",
        "compare with the bursts, the calls and the lateness of timers: the longest of them is the reason";
    Histogram BURST_DURATION = "staunch_burst_duration_seconds" in Seconds {}
        "One burst, from load to commit",
        "p99 below 0.1 s",
        "compare with the commits; what is left is the evaluation of expressions";
    Histogram CALL_DURATION = "staunch_call_duration_seconds" in Seconds
        { kind: ["http", "sql", "mail", "file", "nats"], result: ["response", "done", "timeout", "connect", "refused", "failed", "exhausted"] }
        "Outgoing calls of workflows, by kind and result",
        "`timeout`, `connect` and `failed` are rare",
        "the other side is slow or away: see the incidents of the instances that call it";
    Counter CHAINED_STARTS = "staunch_chained_starts_total" in Count
        { what: ["applied", "held back"] }
        "Starts out of long chains of instances that start each other without waiting",
        "0",
        "a workflow starts itself without end: the log names its definition";
    Gauge EXPRESSION_THREADS_GIVEN_UP = "staunch_expression_threads_given_up" in Count {}
        "Threads with an expression that did not end in its time",
        "0",
        "a script runs for ever: the log names it; the threads are freed by a restart only";
}
