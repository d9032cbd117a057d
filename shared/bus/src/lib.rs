//! The message port and its memory twin.
