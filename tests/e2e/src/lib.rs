//! The services over real parts.
