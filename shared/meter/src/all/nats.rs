//! NATS.

crate::declare::meters! {
    group NATS_METERS;
    Gauge NATS_CONNECTED = "staunch_nats_connected" in Truth
        { connection: ["data", "control"] }
        "The connection is up; `control` renews leases and presence",
        "1",
        "see the alert StaunchNatsDisconnected";
    Counter NATS_RECONNECTS = "staunch_nats_reconnects_total" in Count
        { connection: ["data", "control"] }
        "Connections made again after a loss",
        "0 but when servers restart",
        "the network, or a server that ends connections: its log says why";
    Counter NATS_SLOW_CONSUMERS = "staunch_nats_slow_consumers_total" in Count
        { connection: ["data", "control"] }
        "Messages dropped because this process read too slowly",
        "0",
        "the process has too little processor time";
    Counter NATS_ERRORS = "staunch_nats_errors_total" in Count
        { connection: ["data", "control"] }
        "Errors that the client or the server reported: a refused permission, a lame duck, a failed connect",
        "0",
        "the log has the text: `NATS says: …`";
    Histogram NATS_ROUND_TRIP = "staunch_nats_round_trip_seconds" in Seconds {}
        "A question to JetStream and its answer, asked every 10 s on the connection that renews leases",
        "p99 below 0.02 s",
        "the network to NATS, or its load; leases and answers get as slow";
    Counter PRESENCE_RENEWALS_FAILED = "staunch_presence_renewals_failed_total" in Count {}
        "Renewals of this node's presence that failed",
        "0",
        "NATS is away or slow; after 3 s the other nodes count this node as gone";
}
