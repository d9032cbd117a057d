//! The wire and the state of instances are promises: nodes of different versions work side by
//! side, and rows outlive the version that wrote them.
//!
//! `schema/wire/<version>` has the bytes of every command, event, outcome, bucket entry and of an
//! instance's state, as that version writes them. The tests here compare: today's code writes the
//! bytes of the newest version, reads the bytes of every version, and ignores members that a later
//! version may add. See `schema/wire/README.md` for how to add a version.
//!
//! What clients may rely on is in `schema/messages` (JSON Schemas, made from the types) and
//! `schema/api/asyncapi.json` (all subjects).

#[cfg(test)]
mod buckets;
#[cfg(test)]
mod files;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod public;
#[cfg(test)]
mod state;
