//! Finds, fetches and runs a nats-server.
