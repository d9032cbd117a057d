//! The database port and its memory twin.
