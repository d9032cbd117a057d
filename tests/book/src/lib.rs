//! The documentation: its links lead somewhere, its contents name every page, and its commands run.
//!
//! A block of code that begins with ```` ```sh ```` is run. The words after `sh` say how:
//!
//! - `needs=containers` (or another of `block::NEEDS`): it is not run here, and counted.
//! - `uses=nats` (or another of `block::PROGRAMS`): it is run where that program is installed.
//! - `fails`: its exit code has to be another one than 0.
//! - `with=dev`: the reader has `staunch dev --admin-listen 127.0.0.1:5002` running in this folder; the test starts it first, once for the page.
//!
//! The blocks of a page are run in order, in one bash and one empty folder. The blocks of README.md
//! find the repository's folders there.

#[cfg(test)]
mod block;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod document;
#[cfg(test)]
mod links;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod ports;
