//! The handlers of the conformance kit, in Rust; with the argument `client`, the client's calls.
fn main() {}
