//! The pure engine.
mod effect;
