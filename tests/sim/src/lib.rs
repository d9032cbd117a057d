//! The simulation of the services over the memory twins, from a seed.
//!
//! One seed makes one world: executors, timers, a notifier and clients on a single thread with
//! virtual time. The seed determines their actions and the faults: duplicates, delays, lost
//! responses, crashes between any two steps, expired leases, outages, a wiped broker, streams that are
//! made anew, late acknowledgements. Then the faults stop, the work settles, and the oracle compares the
//! final state with the required state.
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
mod definitions;
#[cfg(test)]
mod edition;
#[cfg(test)]
mod expect;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod nemesis;
#[cfg(test)]
mod operator;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod publisher;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod run;
#[cfg(test)]
mod story;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod witness;
#[cfg(test)]
mod worker;
#[cfg(test)]
mod world;
