//! The conformance kit of workers and clients: each language has one small program with the same
//! handlers, which is run against a real broker and a real node, and crashed, frozen, cancelled and
//! drained. The command `nats` stands for a language without a library.

#[cfg(test)]
mod gate;
#[cfg(test)]
mod language;
#[cfg(test)]
mod nats_command;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod process;
#[cfg(test)]
mod progress;
#[cfg(test)]
mod scenario;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod world;
