//! Tells every node of a new definition.
fn main() {}
