//! The errors of a database, named for what the caller can do.

/// An error of the database port.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The database does not answer, or cannot write. Try again. A write may have happened: load
    /// again before you repeat it.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// The user of the database has not the right to do this, cannot log in, or may only read the
    /// file. Nothing was written. A retry may succeed once an operator has corrected that.
    #[error("no access to the database: {0}")]
    Denied(String),
    /// The server has no database of this name.
    #[error("there is no such database: {0}")]
    Absent(String),
    /// A row cannot be read.
    #[error("the database holds something unreadable: {0}")]
    Corrupt(String),
    /// The schema is older or newer than this program.
    #[error("the database schema does not fit: {0}")]
    Schema(String),
    /// The schema is too new for this program.
    #[error("the database schema is too new: {0}; run a newer version of this program")]
    TooNew(String),
    /// The value breaks a rule of the database, such as a length.
    #[error("the database refuses the value: {0}")]
    Refused(String),
    /// Too much work is queued already. Try again later, and accept less work until then.
    #[error("the database is overloaded: {0}")]
    Overloaded(String),
}

impl Error {
    /// Whether the database takes no work at all now, and the same request may succeed later.
    #[must_use]
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Denied(_) | Self::Absent(_))
    }
}

/// Why there is no driver for this URL, and what to write instead. It shows the scheme alone: without
/// one, a password may stand anywhere.
#[must_use]
pub fn no_driver(url: &str) -> String {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let what = match scheme.filter(|scheme| scheme.chars().all(is_of_scheme)) {
        Some(scheme) => format!("there is no driver for the database {scheme:?}"),
        None => "the URL of the database does not begin with the name of a driver".to_owned(),
    };
    format!("{what}: use sqlite://path or postgres://user:password@host:5432/name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_driver_shows_its_scheme_alone() {
        let shown = no_driver("mysql+ssl://root:hush@db/flow");
        assert!(shown.starts_with("there is no driver for the database \"mysql+ssl\": use"));
        for url in ["root:hush@db://flow", "hush"] {
            let shown = no_driver(url);
            assert!(shown.contains("does not begin with the name") && !shown.contains("hush"));
        }
    }

    #[test]
    fn a_database_is_away_where_the_value_is_not_at_fault() {
        let text = || "x".to_owned();
        for error in [Error::Unavailable(text()), Error::Denied(text()), Error::Absent(text())] {
            assert!(error.is_away(), "{error}");
        }
        assert!(!Error::Refused(text()).is_away() && !Error::Corrupt(text()).is_away());
    }
}
