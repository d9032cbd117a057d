//! One suite for every implementation of the port: the twin and NATS must agree.
