//! The conformance kit of workers.
