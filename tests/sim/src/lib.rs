//! The services over the memory twins, from a seed.
//!
//! One seed makes one world: executors, timers, a notifier and clients on a single thread whose
//! time is virtual. The seed decides what they do and what goes wrong: duplicates, delays, lost
//! answers, crashes between any two steps, expired leases, outages, a wiped broker. Then the faults
//! stop, everything settles, and the oracle compares what is there with what must be there.
//!
//! A failure prints its seed; `SIM_SEED=<seed> cargo test -p sim` replays it. `SIM_SEEDS=<count>`
//! runs more.

#[cfg(test)]
mod chance;
#[cfg(test)]
mod client;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod nemesis;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod story;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod witness;
#[cfg(test)]
mod world;
