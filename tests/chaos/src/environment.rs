//! Failures of what a cluster stands on: the network, clocks, disks, descriptors, names,
//! certificates. Each is tried under load, with what the operator sees; then the work is counted.
//!
//! What needs root (namespaces, mounts) is skipped without it, and says so.

mod callers;
mod certificates;
mod clocks;
mod descriptors;
mod disks;
mod far;
mod load;
mod loss;
mod names;
mod root;
mod sites;
mod slow;
