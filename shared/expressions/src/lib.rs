//! The expression languages: JavaScript (QuickJS) and Liquid.
//!
//! This crate owns how a text becomes a value: the dialect, the functions a script may call, and
//! the limits it runs under. Every evaluation starts from nothing: it reads no clock but the
//! turn's, draws no chance but the turn's, and leaves nothing behind for the next one. It never
//! does I/O, and it changes the scope only when an expression has come to its end.
//!
//! To add a language: write one file with a type that implements [`engine::Language`], and name
//! it in `all.rs`.

mod all;
mod cache;
mod javascript;
mod liquid;
#[cfg(test)]
mod stage;

pub use all::{all, with_script_time};
pub use javascript::JavaScript;
pub use liquid::Liquid;
