//! Applies commands to instances.
fn main() {}
