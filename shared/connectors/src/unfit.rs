//! Settings that are refused at the start.

/// A setting with which a kind of call could never be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The setting, such as `smtp-ca`.
    pub setting: &'static str,
    /// What is wrong with its value, without secrets.
    pub reason: String,
}

impl Unfit {
    /// Makes the refusals of this setting, each from its reason.
    pub(crate) fn of(setting: &'static str) -> impl Fn(String) -> Self {
        move |reason| Self { setting, reason }
    }
}
