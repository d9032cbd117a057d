//! Fires what is due.
