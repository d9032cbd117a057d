//! The CLI and every role in one process.
