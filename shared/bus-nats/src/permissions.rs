//! The permissions of the users of NATS: what each role of Staunch and each kind of client publishes
//! and hears, and the accounts in which they are.
//!
//! Pure, but for the check at the start of a process ([`check`](mod@check)). To add a subject to a
//! role: add it to `role.rs`, and run the test `accounts` with `UPDATE_EXPECT=1`.

mod account;
mod accounts;
mod check;
mod client;
mod grant;
mod pattern;
mod role;
mod text;
mod workflows;

pub use account::{Account, Export, Flow, User};
pub use accounts::Accounts;
pub use grant::Grant;
pub use workflows::Used;
