//! The HTTP gateway.
