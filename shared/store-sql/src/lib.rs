//! The SeaORM adapter.
