//! Fails the build on untidiness.
