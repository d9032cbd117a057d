//! The HTTP gateway.
fn main() {}
