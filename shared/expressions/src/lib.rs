//! The expression languages: JavaScript (QuickJS), Liquid, and SQL with bound parameters.
//!
//! This crate turns a text into a value: it owns the dialects, the functions that a script may
//! call, and the limits of an evaluation. Each evaluation starts with a fresh state. It reads the
//! time and the random numbers of the turn only, does no I/O, and changes the scope only when the
//! expression has ended without an error.
//!
//! To add a language: write one file with a type that implements [`engine::Language`], and name
//! it in `all.rs`.

mod all;
mod cache;
mod child_result;
mod config;
mod flaw;
mod javascript;
mod liquid;
mod mentions;
mod secret;
mod sql;
#[cfg(test)]
mod stage;
mod threads;

pub use all::{all, with};
pub use config::Config;
pub use javascript::JavaScript;
pub use liquid::Liquid;
pub use secret::Secret;
pub use sql::Sql;
pub use threads::given_up;
