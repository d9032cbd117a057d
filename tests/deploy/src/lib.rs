//! What deploys Staunch: checked without a container engine and without a Kubernetes cluster, and
//! run on loopback where that is possible.
//!
//! The work is in the Python scripts of this folder, because the formats are those of other tools.
//! Each test runs one script to its end. A script that misses a tool says which, and the test is
//! skipped, or fails where `STAUNCH_TEST_REQUIRE` names the tool.

#[cfg(test)]
mod compose;
#[cfg(test)]
mod kubernetes;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod script;
