//! Tests with the real binaries, a real nats-server, SQLite and PostgreSQL.
//!
//! Each story (a test of one sequence of events) names the guarantee that it tries to break, and
//! prints its figures. Stories run one after the other: each has several processes, and measures
//! time. Nothing here is used outside tests.

#[cfg(test)]
mod api;
#[cfg(test)]
mod contained;
#[cfg(test)]
mod listeners;
#[cfg(test)]
mod other_side;
#[cfg(test)]
mod search;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod workflow;
#[cfg(test)]
mod world;
