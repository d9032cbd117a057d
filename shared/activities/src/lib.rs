//! The built-in activities.
