//! Router-level tests over the memory twins.
