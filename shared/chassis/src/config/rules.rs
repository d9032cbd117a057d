//! What settings are to each other, as far as each needs no more than the others' texts: for the checks
//! at the start, and for tools that have no node.

use serde::Serialize;

/// The rules.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rules {
    /// A certificate and its key: both are set, or none.
    pub together: &'static [[&'static str; 2]],
    /// At most one of these is set.
    pub apart: &'static [[&'static str; 2]],
    /// The first is set only if the other is.
    pub needs: &'static [Need],
    /// The first is at most the second.
    pub ascending: &'static [[&'static str; 2]],
}

/// A setting that does nothing without another.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Need {
    /// The setting.
    pub setting: &'static str,
    /// The other.
    pub other: &'static str,
    /// What the setting needs it for.
    pub why: &'static str,
}

/// Every rule of the settings.
pub const RULES: Rules = Rules {
    together: &[["tls-cert", "tls-key"], ["nats-tls-cert", "nats-tls-key"]],
    apart: &[["secrets-key", "secrets-key-file"], ["admin-password", "admin-password-file"]],
    needs: &[
        Need {
            setting: "tls-client-ca",
            other: "tls-cert",
            why: "client certificates need TLS, so set tls-cert and tls-key",
        },
        Need {
            setting: "tls-client-auth",
            other: "tls-client-ca",
            why: "name the file with the authorities of the client certificates",
        },
    ],
    ascending: &[["access-token-time", "refresh-token-time"]],
};
