//! Fires what is due.
fn main() {}
