//! Tests the guarantees on whole clusters of real processes. The processes are killed, paused, cut
//! off and overloaded while they work; afterwards the tests count the results.
//!
//! Each test names the guarantees that it tries to break and prints its figures. `cargo test` runs
//! a sample of each test, `just chaos` runs everything. Tests run one after the other, because each
//! has many processes. Nothing here is used outside tests.

#[cfg(test)]
mod api;
#[cfg(test)]
mod bulk;
#[cfg(test)]
mod bustle;
#[cfg(test)]
mod callee;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod environment;
#[cfg(test)]
mod failover;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod overload;
#[cfg(test)]
mod pace;
#[cfg(test)]
mod panics;
#[cfg(test)]
mod pooler;
#[cfg(test)]
mod restore;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod stuck;
#[cfg(test)]
mod traffic;
#[cfg(test)]
mod upgrade;
#[cfg(test)]
mod wakeup;
#[cfg(test)]
mod workflow;
#[cfg(test)]
mod world;
