//! What every service needs.
