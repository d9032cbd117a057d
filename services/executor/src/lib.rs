//! Applies commands to instances.
