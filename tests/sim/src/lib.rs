//! The services over the twins, from a seed.
