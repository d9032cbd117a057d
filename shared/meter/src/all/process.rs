//! The process.

crate::declare::meters! {
    group PROCESS_METERS;
    Gauge BUILD_INFO = "staunch_build_info" in Truth
        { version: "one", commit: "one", node: "one" }
        "The version and commit of the program, and the name of the node; the value is 1",
        "one version but while a rolling update is in progress",
        "finish the update";
    Gauge START_TIME = "staunch_start_time_seconds" in Time {}
        "When the process started",
        "days ago",
        "it restarts: see its last log lines";
    Gauge CLOCK_APART = "staunch_clock_apart_seconds" in LongSeconds {}
        "How many whole seconds the clock of this machine is from the database's, which timers follow",
        "0",
        "see the alert StaunchClockApart";
    Gauge CERTIFICATE_EXPIRES = "staunch_certificate_expires_time_seconds" in Time
        { setting: ["tls-cert", "tls-client-ca", "nats-tls-cert", "nats-ca"] }
        "When the certificate in the file of a setting expires; 0 if the setting is not used or its file cannot be read",
        "weeks ahead",
        "see the alert StaunchCertificateExpires";
    Counter TASK_PANICS = "staunch_task_panics_total" in Count
        { task: "the background tasks" }
        "Panics of background tasks",
        "0",
        "see the alert StaunchTaskPanics";
    Counter TASK_RESTARTS = "staunch_task_restarts_total" in Count
        { task: "the background tasks" }
        "Runs of a background task after a panic",
        "0",
        "as `staunch_task_panics_total`";
}
