//! The NATS adapter.
