//! The command `nats` as a worker and a client.
